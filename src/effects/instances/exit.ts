// Explains why an instance exited, with the cause of a command that could not be run.
import {
  type ExitedProgram,
  explainExit,
  isExecFailure,
  isOutOfMemory,
} from '../../docker/containers/exit-explanation.ts'
import type { InstanceState, Instances } from '../../docker/containers/instances.ts'
import { codeOf } from '../../errors.ts'

/** One line that reads after the name of the instance. */
export async function describeExit(
  instances: Pick<Instances, 'findExecProblem'>,
  exit: InstanceState,
  program: ExitedProgram,
): Promise<string> {
  if (exit.exitCode === null || isOutOfMemory(exit)) return explainExit(exit, program)
  const found = await instances.findExecProblem(exit.name).catch((error: unknown) => {
    if (codeOf(error) !== 'docker_error') throw error
    return undefined
  })
  // Programs run a file for another processor with a shell, which can end with any code.
  const isCause = isExecFailure(exit) || found?.kind === 'foreign'
  if (found === undefined || !isCause) return explainExit(exit, program)
  return explainExit(exit, { ...program, problem: found === null ? null : found.text })
}

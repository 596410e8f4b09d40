// Explains why an instance exited: a command that could not be run, or a disk that its user may not use.
import {
  type ExitedProgram,
  explainExit,
  isExecFailure,
  isOutOfMemory,
} from '../../docker/containers/exit-explanation.ts'
import { idsText, type UserIds } from '../../docker/containers/image-user.ts'
import type { InstanceState, Instances } from '../../docker/containers/instances.ts'
import { codeOf, Failure } from '../../errors.ts'

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

/** The failures that a denied path may cause. */
const codes = ['exited_early', 'health_check_failed', 'instance_failed']

/** The same failure if a denied disk is not the cause, or if the engine does not respond. */
export async function explainDenial(
  instances: Pick<Instances, 'findDeniedPath'>,
  name: string,
  failure: unknown,
): Promise<unknown> {
  if (!(failure instanceof Failure && codes.includes(failure.code))) return failure
  const denied = await instances.findDeniedPath(name).catch(() => null)
  if (denied === null) return failure
  const { path, disk, owner, user } = denied
  const cause = `${path} of its disk belongs to ${describe(owner)}, and the image runs as ${describe(user)}`
  const facts = { reason: 'disk_owner', path, disk, owner: idsText(owner), user: idsText(user) }
  return new Failure(failure.code, `${failure.message}: ${cause}`).with(facts)
}

function describe(ids: UserIds): string {
  return ids.uid === 0 ? `root (${idsText(ids)})` : idsText(ids)
}

// Explains why an instance ended, in plain words. Pure. Neither exit code 137 nor the out-of-memory flag
// alone proves an out-of-memory kill of the instance: the flag may refer to a child process.
import { constants } from 'node:os'
import { size } from '../../quantities.ts'

export interface ExitFacts {
  /** Null if it never ran, and if the engine did not see its end. */
  exitCode: number | null
  startedAt: string | null
  oomKilled: boolean
  memoryLimitBytes: number
}

export interface ExitedProgram {
  /** The start command; null when the image's own command ran. */
  command: string | null
  /** The port it was expected to listen on, if any. */
  port?: number | null
  /** Why it could not be run; null if its files show no reason; undefined if unknown. */
  problem?: string | null | undefined
}

const lostExit = 'was running when the Docker engine was restarted: how it ended is unknown'

/** 128 and SIGKILL. */
export const killedExitCode = 137

/** Whether the main process itself was killed at its memory limit. */
export function isOutOfMemory(exit: Pick<ExitFacts, 'exitCode' | 'oomKilled'>): boolean {
  return exit.oomKilled && exit.exitCode === killedExitCode
}

export function isExecFailure({ exitCode }: Pick<ExitFacts, 'exitCode'>): boolean {
  return exitCode === 126 || exitCode === 127
}

/** One line that reads after the name of an instance: "exited with code 1". */
export function explainExit(exit: ExitFacts, program: ExitedProgram): string {
  if (exit.exitCode === null) return exit.startedAt === null ? 'never ran' : lostExit
  if (isOutOfMemory(exit))
    return `was killed for using more than its memory limit of ${size(exit.memoryLimitBytes)}`
  const text = explainCode(exit.exitCode, program)
  return exit.oomKilled
    ? `${text}, after one of its processes was killed at the memory limit of ${size(exit.memoryLimitBytes)}`
    : text
}

function explainCode(code: number, program: ExitedProgram): string {
  if (program.problem) return explainExec(program, code, program.problem)
  switch (code) {
    case 0:
      return explainEarlyEnd(program)
    case 125:
      return 'could not be run by Docker (exit code 125)'
    case 126:
      return explainExec(program, code, 'it is not executable')
    case 127:
      return explainExec(program, code, 'command not found')
    default:
      return explainSignal(code) ?? `exited with code ${code}`
  }
}

/** Exit codes 126 and 127 are those of a shell, too, whose script ran a command that it could not run. */
function explainExec(program: ExitedProgram, code: number, usualProblem: string): string {
  if (program.problem === null) return `exited with code ${code}: ${usualProblem}`
  return `could not run ${nameOf(program)}: ${program.problem ?? usualProblem} (exit code ${code})`
}

function explainEarlyEnd(program: ExitedProgram): string {
  const duty = program.port ? `keep running and listen on port ${program.port}` : 'keep running'
  return (
    `exited on its own (exit code 0) although it must ${duty}: ` +
    `make ${nameOf(program)} stay in the foreground, or set another start command`
  )
}

function explainSignal(code: number): string | null {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0]
  if (signal === undefined) return null
  if (signal === 'SIGSEGV') return `crashed with a segmentation fault (SIGSEGV, exit code ${code})`
  return `was ended by ${signal} (exit code ${code})`
}

function nameOf(program: ExitedProgram): string {
  return program.command === null ? 'the command of the image' : `'${program.command}'`
}

// Detects that an image has no shell. Under Docker's own init such a container does start. Init logs the
// cause in words for experts, and exits with the code that a shell uses for a command that was not found.

import type { LogLine } from '../logs/log-frames.ts'
import type { ExitFacts } from './exit-explanation.ts'

export const noShell = "the image has no shell ('sh') to run the command with"

const notFoundExitCode = 127
const initMessages = /^\[FATAL tini \(\d+\)\] exec sh failed: No such file/

/** Decides by the exit of a command that `sh` was to run, and the last lines of its log. */
export function isShellMissing({ exitCode }: Pick<ExitFacts, 'exitCode'>, lastLines: LogLine[]): boolean {
  return exitCode === notFoundExitCode && lastLines.some(({ line }) => initMessages.test(line))
}

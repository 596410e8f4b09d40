// Runs a command: opens its session, and converts its errors to messages and an exit code.
import type { Command } from 'commander'
import { type Cli, type GlobalFlags, openSession } from './client/session.ts'
import { noticeUpdate } from './config/update-notice.ts'
import { CliFailure, exitCodes, interruption } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { Output } from './terminal/output.ts'
import { plain } from './terminal/output.ts'

/** Converts a function that needs the session to a commander action. The returned number is the exit code. */
export type Runner = <Args extends unknown[]>(
  // biome-ignore lint/suspicious/noConfusingVoidType: an action that has nothing to say returns nothing
  action: (cli: Cli, ...args: Args) => Promise<number | void>,
) => (...args: Args) => Promise<void>

export function createRunner(
  program: Command,
  invocation: Invocation,
  setExitCode: (code: number) => void,
): Runner {
  return (action) =>
    async (...args) => {
      const cli = openSession(invocation, program.opts<GlobalFlags>())
      try {
        setExitCode((await action(cli, ...args)) ?? exitCodes.ok)
      } catch (error) {
        cli.out.rest()
        setExitCode(printFailure(cli.out, invocation.signal.aborted ? asInterruption(error) : error))
      } finally {
        cli.out.rest()
        noticeUpdate(cli)
      }
    }
}

/** Prints what went wrong, why, and what to do next. Returns the exit code. */
export function printFailure(out: Pick<Output, 'say' | 'tint'>, error: unknown): number {
  const failure = error instanceof CliFailure ? error : asBug(error)
  const [what = '', ...why] = failure.message.split('\n').map(plain)
  const id = failure.requestId ? out.tint('dim', ` [${plain(failure.requestId)}]`) : ''
  if (what) out.say(` ${out.tint('red', '✘')} ${what}${id}`)
  for (const line of why) out.say(`   ${line}`)
  for (const line of failure.hint?.split('\n') ?? []) out.say(`   ${out.tint('dim', plain(line))}`)
  return failure.exitCode
}

// Ctrl-C makes a pending call fail with various messages, all with the same meaning.
function asInterruption(error: unknown): CliFailure {
  const isOurs = error instanceof CliFailure && error.exitCode === exitCodes.interrupted
  return isOurs ? error : interruption()
}

function asBug(error: unknown): CliFailure {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new CliFailure(`internal error of berth: ${text}`)
}

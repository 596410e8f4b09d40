// A command of `berth`: its session, its examples, and its errors as messages and an exit code.

import { Command } from 'commander'
import type { Cli } from './client/session.ts'
import { CliFailure, exitCodes, interruption } from './failure.ts'
import { type Output, plain } from './terminal/output.ts'

/** The returned number is the exit code. */
// biome-ignore lint/suspicious/noConfusingVoidType: an action that has nothing to say returns nothing
type Action<Args extends unknown[]> = (cli: Cli, ...args: Args) => Promise<number | void>

/** Converts an action to one of commander, which has no session. */
type Runner = <Args extends unknown[]>(action: Action<Args>) => (...args: Args) => Promise<void>

export class BerthCommand extends Command {
  readonly #runner: Runner

  constructor(name: string | undefined, runner: Runner) {
    super(name)
    this.#runner = runner
  }

  override createCommand(name?: string): BerthCommand {
    return new BerthCommand(name, this.#runner)
  }

  /** Ends the help. Each line is a command, optionally with a description after `#`; a test parses it. */
  examples(...lines: string[]): this {
    return this.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  $ ${line}`)].join('\n'))
  }

  runs<Args extends unknown[]>(action: Action<Args>): this {
    return this.action(this.#runner(action))
  }

  /** What the command itself does, and its subcommand `ls`. */
  lists(action: Action<[]>): this {
    const name = `berth ${this.name()} ls`
    this.command('ls').description('list them').examples(name, `${name} --json`).runs(action)
    return this.runs(action)
  }
}

/** Runs an action. Resolves with the exit code, after the failure is printed. */
export async function perform(cli: Cli, action: Action<[]>): Promise<number> {
  try {
    return (await action(cli)) ?? exitCodes.ok
  } catch (error) {
    cli.out.rest()
    return printFailure(cli.out, cli.signal.aborted ? asInterruption(error) : error)
  } finally {
    cli.out.rest()
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

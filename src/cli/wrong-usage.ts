// Usage errors: the problem and the usage. Commander's error code identifies the format of its message.
import type { Command, CommanderError } from 'commander'
import { type CliFailure, usageFailure } from './failure.ts'

/** Commands of similar tools, and the equivalent command here. */
const commandSynonyms: Record<string, string> = {
  apps: 'services',
  list: 'services',
  ls: 'services',
  ps: 'status',
  rm: 'delete',
  remove: 'delete',
  destroy: 'delete',
  exec: 'run',
  ssh: 'run',
  config: 'env',
  secrets: 'env',
  start: 'resume',
  stop: 'suspend',
  push: 'up',
  launch: 'up',
  version: '--version',
}

/** `args` are all words after `berth`. */
export function wrongUsage(command: Command, { code, message }: CommanderError, args: string[]): CliFailure {
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n')
  if (command.name() === 'run' && !args.includes('--')) {
    return usageFailure(what, 'put the command after --: berth run NAME -- COMMAND')
  }
  if (code === 'commander.unknownCommand') return unknownCommand(command, what, suggestion)
  if (code === 'commander.help')
    return usageFailure(`unknown command '${command.args.at(-1)}'`, helpOf(command))
  if (code === 'commander.excessArguments') return surplus(command)
  if (code === 'commander.missingArgument') return usageFailure(what, usageOf(command))
  return usageFailure(what, tidy(suggestion) ?? helpOf(command))
}

/** `(Did you mean deploy?)` → `did you mean deploy?` */
function tidy(suggestion: string | undefined): string | undefined {
  return suggestion?.replace(/[()]/g, '').toLowerCase()
}

function unknownCommand(command: Command, what: string, suggestion: string | undefined): CliFailure {
  const meant = Object.hasOwn(commandSynonyms, command.args[0] ?? '')
    ? commandSynonyms[command.args[0]!]
    : undefined
  const hint = meant === undefined ? tidy(suggestion) : `the command is ${pathOf(command)} ${meant}`
  return usageFailure(what, hint ?? helpOf(command))
}

function surplus(command: Command): CliFailure {
  const [word = ''] = command.args.slice(command.registeredArguments.length)
  const way = command.commands.length > 0 ? helpOf(command) : usageOf(command)
  return usageFailure(`${pathOf(command)} takes no argument '${word}'`, way)
}

/** `berth scale NAME NUMBER` */
function usageOf(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = argument.name().toUpperCase() + (argument.variadic ? '…' : '')
    return argument.required ? name : `[${name}]`
  })
  return [pathOf(command), ...words].join(' ')
}

function helpOf(command: Command): string {
  return `${pathOf(command)} --help`
}

/** `berth env set` */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

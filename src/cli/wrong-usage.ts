// Usage errors: the problem and the usage. Commander's error code identifies the format of its message.
import type { Command, CommanderError } from 'commander'
import { quote } from '../domain/shell-word.ts'
import { type CliFailure, usageFailure } from './failure.ts'

/** Commands of similar tools, and the equivalent command here; with a space, the whole hint. */
const commandSynonyms: Record<string, string> = {
  ...Object.fromEntries(['shell', 'console', 'bash', 'attach', 'exec'].map((word) => [word, 'ssh'])),
  rename: 'a service keeps its name: berth create NAME',
  backup: 'a database: berth db backup NAME\na disk: berth disks backup NAME\nall: berth server-backups',
  apps: 'services',
  list: 'services',
  ls: 'services',
  ps: 'status',
  rm: 'delete',
  remove: 'delete',
  destroy: 'delete',
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
  if (command.name() === 'run' && code === 'commander.unknownOption') return wrongRun(what, args)
  if (command.parent === null && what === "unknown option '-v'") return usageFailure(what, 'berth --version')
  if (command.name() === 'update' && what === "unknown option '--type'")
    return usageFailure('the type of a service is fixed', 'make another one: berth create NAME --type TYPE')
  if (code === 'commander.unknownCommand') return unknownCommand(command, what, suggestion)
  if (code === 'commander.help')
    return usageFailure(`unknown command '${command.args.at(-1)}'`, helpOf(command))
  if (code === 'commander.excessArguments') return surplus(command)
  if (code === 'commander.missingArgument') return usageFailure(what, usageOf(command))
  return usageFailure(what, tidy(suggestion) ?? helpOf(command))
}

function wrongRun(what: string, args: string[]): CliFailure {
  const isShell = /'-?-(it|t|tty)'/.test(what)
  if (isShell) return usageFailure(what, 'a shell in a running instance: berth ssh NAME')
  const way = 'put the command after --: berth run NAME -- COMMAND'
  return usageFailure(what, args.includes('--') ? 'berth run --help' : way)
}

/** `(Did you mean deploy?)` → `did you mean deploy?` */
function tidy(suggestion: string | undefined): string | undefined {
  return suggestion?.replace(/[()]/g, '').toLowerCase()
}

function unknownCommand(command: Command, what: string, suggestion: string | undefined): CliFailure {
  const meant = Object.hasOwn(commandSynonyms, command.args[0] ?? '')
    ? commandSynonyms[command.args[0]!]
    : undefined
  if (meant === undefined) return usageFailure(what, tidy(suggestion) ?? helpOf(command))
  return usageFailure(what, meant.includes(' ') ? meant : `the command is ${pathOf(command)} ${meant}`)
}

/** What stands before a word that is no argument. */
const belongsBefore: Record<string, string> = {
  'berth db restore': '<',
  'berth disks restore': '<',
  'berth db backup': '>',
  'berth disks backup': '>',
  'berth db upgrade': '--to',
}

function surplus(command: Command): CliFailure {
  const [word = ''] = command.args.slice(command.registeredArguments.length)
  const before = belongsBefore[pathOf(command)]
  const own = before && `${pathOf(command)} ${quote(command.args[0]!)} ${before} ${quote(word)}`
  const way = own ?? (command.commands.length > 0 ? helpOf(command) : usageOf(command))
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

// Usage errors: the problem and the usage. Commander's error code identifies the format of its message.
import type { Command, CommanderError } from 'commander'
import { quote } from '../domain/shell-word.ts'
import { nearest } from '../nearest-name.ts'
import { type CliFailure, usageFailure } from './failure.ts'
import { sharedOption } from './global-options.ts'

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

/** What was meant by a wrong use of a command: a pattern of the problem, and the command that does it. */
const intentions: Record<string, [problem: RegExp, meant: (name: string, file: string) => string][]> = {
  'berth db restore': [[/takes no argument/, (name, file) => `berth db restore ${name} < ${file}`]],
  'berth env set': [[/option '--env-file/, (name, file) => `berth env import ${name} ${file}`]],
  'berth update': [
    [/option '--env-file/, (name, file) => `berth env import ${name} ${file}`],
    [/option '--env/, (name) => `berth env set ${name} KEY=VALUE`],
    [/option '--name/, (name) => `a service keeps its name: berth create NEW, then: berth delete ${name}`],
  ],
  'berth scale': [[/^NUMBER is '0+'/, (name) => `berth suspend ${name}`]],
}

/** `args` are all words after `berth`. */
export function wrongUsage(command: Command, error: CommanderError, args: string[]): CliFailure {
  const failure = usageProblem(command, error, args)
  const [, meant] = intentions[pathOf(command)]?.find(([problem]) => problem.test(failure.message)) ?? []
  if (!meant) return failure
  const words = command.args.flatMap((word) => word.split(/(?<=^--env-file)=/))
  const flag = words.indexOf('--env-file')
  const [name = 'NAME', other = 'FILE'] = words
  const file = flag === -1 ? other : (words[flag + 1] ?? 'FILE')
  return usageFailure(failure.message, meant(quote(name), quote(file)))
}

function usageProblem(command: Command, { code, message }: CommanderError, args: string[]): CliFailure {
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n')
  if (command.name() === 'run' && !args.includes('--')) {
    return usageFailure(what, 'put the command after --: berth run NAME -- COMMAND')
  }
  if (code === 'commander.unknownCommand') return unknownCommand(command, what, suggestion)
  if (code === 'commander.help') return unknownTopic(command)
  if (code === 'commander.excessArguments') return surplus(command)
  if (code === 'commander.missingArgument') return usageFailure(what, usageOf(command))
  if (code === 'commander.invalidArgument') return wrongValue(command, what)
  return usageFailure(what, tidy(suggestion) ?? sharedOption(what) ?? helpOf(command))
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

/** `berth help deply` */
function unknownTopic(command: Command): CliFailure {
  const word = command.args.at(-1) ?? ''
  const names = command.commands.map((below) => below.name())
  const meant = nearest(word, names)
  const hint = meant === null ? helpOf(command) : `did you mean berth help ${meant}?`
  return usageFailure(`unknown command '${word}'`, hint)
}

/** If the command has subcommands, the first excess word was probably meant as a subcommand. */
function surplus(command: Command): CliFailure {
  const [word = ''] = command.args.slice(command.registeredArguments.length)
  const names = command.commands.map((below) => below.name())
  const meant = nearest(command.args[0] ?? '', names)
  const hint = meant === null ? null : `did you mean ${pathOf(command)} ${meant}?`
  const way = names.length > 0 ? helpOf(command) : usageOf(command)
  return usageFailure(`${pathOf(command)} takes no argument '${word}'`, hint ?? way)
}

/** `NUMBER is 'x': it must be a whole number` for an argument, `--limit is 'x': …` for an option. */
function wrongValue(command: Command, what: string): CliFailure {
  const [, value, name, rule] =
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s.exec(what) ?? []
  if (name !== undefined) {
    return usageFailure(`${name.toUpperCase()} is '${value}': ${clause(rule!)}`, usageOf(command))
  }
  const [, flags, given, need] = /^option '(.*)' argument '(.*)' is invalid\. (.*)$/s.exec(what) ?? []
  const [flag = ''] = /--[\w-]+/.exec(flags ?? '') ?? []
  return usageFailure(flag === '' ? what : `${flag} is '${given}': ${clause(need!)}`, helpOf(command))
}

/** `It must be a whole number.` as a clause within a line. */
function clause(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1).replace(/\.$/, '')
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

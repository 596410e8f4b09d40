// The variables of a service: show, set, unset. They are secrets, so values are printed only on request.
import type { Command } from 'commander'
import type { EnvVar } from '../../api/env.ts'
import { toEnvLine } from '../../domain/env-file.ts'
import type { Cli } from '../client/session.ts'
import type { Runner } from '../command.ts'
import { examples } from '../examples.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { parseAssignments } from '../service/assignments.ts'
import { masked } from '../service/env-changes.ts'
import {
  addSavingOptions,
  readEnv,
  readShownEnv,
  type SavingOptions,
  saveEnv,
} from '../service/env-saving.ts'
import { resolveService } from '../service/resolve-target.ts'
import { plain } from '../terminal/output.ts'
import { printTable } from '../terminal/table.ts'

export function addEnvCommands(program: Command, run: Runner): void {
  const env = program
    .command('env')
    .argument('[name]', 'the service')
    .description("show a service's variables, values masked")
    .option('--show', 'show the values, as lines of an .env file')
    .addHelpText('after', examples('berth env shop', 'berth env shop --show > shop.env'))
    .action(run(showEnv))
  addSavingOptions(
    env.command('set').argument('<name>', 'the service').argument('<KEY=value...>', 'KEY=- is stdin'),
  )
    .description('set variables')
    .addHelpText(
      'after',
      examples(
        'berth env set shop GREETING=hi',
        'pass show shop/db | berth env set shop DB_PASSWORD=- --restart',
      ),
    )
    .action(run(setEnv))
  addSavingOptions(
    env.command('unset').argument('<name>', 'the service').argument('<KEY...>', 'the variables'),
  )
    .description('remove variables')
    .addHelpText(
      'after',
      examples('berth env unset shop GREETING', 'berth env unset shop OLD OLDER --restart'),
    )
    .action(run(unsetEnv))
}

async function showEnv(cli: Cli, name: string | undefined, options: { show?: boolean }): Promise<void> {
  const { out } = cli
  const service = await resolveService(cli, name)
  if (options.show && !out.isJson) return showLines(await readEnv(cli, service), out)
  const vars = await readShownEnv(cli, service)
  if (out.isJson) return out.json(vars)
  if (vars.length === 0) return out.say('no variables')
  printTable(out, vars, [
    { heading: 'KEY', text: ({ key }) => key },
    { heading: 'VALUE', text: ({ value }) => masked(value), style: () => 'dim' },
  ])
}

/** `berth env import` reads back the same values. */
function showLines(vars: EnvVar[], { isTerminal, print }: Cli['out']): void {
  const lines = vars.flatMap((variable) => toEnvLine(variable).split('\n'))
  for (const line of lines) print(isTerminal ? plain(line) : line)
}

async function setEnv(cli: Cli, name: string, words: string[], options: SavingOptions): Promise<number> {
  const set = await parseAssignments(cli, words)
  const previous = new Set((await readShownEnv(cli, name)).map(({ key }) => key))
  const keys = [...new Set(set.map(({ key }) => key))]
  const added = keys.filter((key) => !previous.has(key))
  const changed = keys.filter((key) => previous.has(key))
  const restart = options.restart ? ' --restart' : ''
  // Reads the value from a pipe, so that it gets into no shell history. Only one value is possible.
  const undo = [
    ...(added.length > 0 ? [`berth env unset ${name} ${added.join(' ')}${restart}`] : []),
    ...changed.map((key) => `berth env set ${name} ${key}=-${restart}   # with the former value`),
  ]
  return saveEnv(cli, name, { set, undo }, options)
}

async function unsetEnv(cli: Cli, name: string, keys: string[], options: SavingOptions): Promise<number> {
  const previous = new Set((await readShownEnv(cli, name)).map(({ key }) => key))
  const missing = keys.filter((key) => !previous.has(key))
  if (missing.length > 0) {
    throw new CliFailure(`${name} has no variable ${missing.join(', ')}`, { exitCode: exitCodes.notFound })
  }
  return saveEnv(cli, name, { unset: keys }, options)
}

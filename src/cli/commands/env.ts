// The variables of a service: show, set, unset, and import or edit them as a file. They are secrets, so
// values are printed only on request.
import type { EnvChanges, EnvVar } from '../../api/env.ts'
import { toEnvLine } from '../../domain/env-file.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { parseAssignments, parseEnvText, readEnvFile } from '../service/env-file.ts'
import {
  addSavingOptions,
  readEnv,
  readShownEnv,
  type SavingOptions,
  saveEnv,
} from '../service/env-saving.ts'
import { resolveService } from '../service/resolve-target.ts'
import { editText } from '../terminal/editor.ts'
import { type Output, plain } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { printList } from '../terminal/table.ts'

const mask = '••••••'

export function addEnvCommands(program: BerthCommand): void {
  const env = program
    .command('env')
    .argument('[name]', 'the service')
    .description("show a service's variables, values masked")
    .option('--show', 'show the values, as lines of an .env file')
    .examples('berth env shop', 'berth env shop --show > shop.env')
    .runs(showEnv)
  addSavingOptions(
    env.command('set').argument('<name>', 'the service').argument('<KEY=value...>', 'KEY=- is stdin'),
  )
    .description('set variables')
    .examples(
      'berth env set shop GREETING=hi',
      'pass show shop/db | berth env set shop DB_PASSWORD=- --restart',
    )
    .runs(setEnv)
  addSavingOptions(
    env.command('unset').argument('<name>', 'the service').argument('<KEY...>', 'the variables'),
  )
    .description('remove variables')
    .examples('berth env unset shop GREETING', 'berth env unset shop OLD OLDER --restart')
    .runs(unsetEnv)
  addSavingOptions(env.command('edit').argument('<name>', 'the service'))
    .description('change variables in $VISUAL or $EDITOR')
    .option('--yes', 'save without asking')
    .examples('berth env edit shop', 'EDITOR=nano berth env edit shop --restart')
    .runs(editEnv)
  addSavingOptions(
    env.command('import').argument('<name>', 'the service').argument('[file]', '- is stdin', '.env'),
  )
    .description('set the variables of a file; shows the changes first')
    .option('--replace', 'remove the variables that are not in the file')
    .option('--yes', 'save without asking')
    .examples('berth env import shop .env', 'berth env import shop production.env --replace --yes --restart')
    .runs(importEnv)
}

async function showEnv(cli: Cli, name: string | undefined, options: { show?: boolean }): Promise<void> {
  const { out } = cli
  const service = await resolveService(cli, name)
  if (options.show && !out.isJson) return showLines(await readEnv(cli, service), out)
  const vars = await readShownEnv(cli, service)
  printList(out, vars, 'no variables', [
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

interface ImportOptions extends SavingOptions {
  replace?: boolean
  yes?: boolean
}

async function importEnv(cli: Cli, name: string, file: string, options: ImportOptions): Promise<number> {
  const wanted = await readEnvFile(cli, file)
  if (wanted.length === 0)
    throw new CliFailure(`${file} contains no variables`, { hint: 'a line is KEY=value' })
  const previous = await readEnv(cli, name)
  const difference = compareEnv(previous, wanted)
  return agreeAndSave(cli, name, options.replace ? difference : { ...difference, removed: [] }, options)
}

async function editEnv(cli: Cli, name: string, options: ImportOptions): Promise<number> {
  const previous = await readEnv(cli, name)
  const text = [
    `# The variables of ${plain(name)}, one KEY=value per line. Save and close to continue.`,
    ...previous.map(toEnvLine),
    '',
  ].join('\n')
  const wanted = parseEnvText(await editText(cli, text, `${name}.env`), 'the edited text')
  return agreeAndSave(cli, name, compareEnv(previous, wanted), options)
}

async function agreeAndSave(cli: Cli, name: string, difference: EnvDifference, options: ImportOptions) {
  const { out } = cli
  if (isEmpty(difference)) {
    out.say('nothing to change')
    return 0
  }
  const change = { set: [...difference.added, ...difference.changed], unset: difference.removed }
  showDifference(out, difference)
  await reportUnresolved(cli, name, change)
  const question = { message: `Save this for ${plain(name)}?`, instead: 'confirm with --yes' }
  if (!options.yes && !(await confirm(cli, question))) throw new CliFailure('nothing was saved')
  return saveEnv(cli, name, change, options)
}

/**
 * Reports references that the server cannot resolve. The dry run also rejects an invalid change before the
 * user confirms it.
 */
async function reportUnresolved({ client, out }: Cli, name: string, body: object): Promise<void> {
  const { unresolved } = await client.call<EnvChanges>('PATCH', `${servicePath(name)}/env`, {
    body,
    query: { dry_run: true },
  })
  for (const key of unresolved) {
    out.say(`  ${out.tint('yellow', '!')} ${plain(key)} refers to something that does not exist`)
  }
}

interface EnvDifference {
  added: EnvVar[]
  changed: EnvVar[]
  removed: string[]
}

function compareEnv(previous: EnvVar[], wanted: EnvVar[]): EnvDifference {
  const values = new Map(previous.map(({ key, value }) => [key, value]))
  const keys = new Set(wanted.map(({ key }) => key))
  return {
    added: wanted.filter(({ key }) => !values.has(key)),
    changed: wanted.filter(({ key, value }) => values.has(key) && values.get(key) !== value),
    removed: previous.map(({ key }) => key).filter((key) => !keys.has(key)),
  }
}

function isEmpty({ added, changed, removed }: EnvDifference): boolean {
  return added.length + changed.length + removed.length === 0
}

/** Prints `+ KEY ••••••`, `~ KEY •••••• → ••••••`, `- KEY` on stderr, for the user to confirm. */
function showDifference(out: Output, { added, changed, removed }: EnvDifference): void {
  const keys = [...added.map(({ key }) => key), ...changed.map(({ key }) => key), ...removed]
  const columns = Math.max(...keys.map((key) => key.length))
  const line = (style: 'green' | 'yellow' | 'red', sign: string, key: string, value: string) =>
    out.say(
      `  ${out.tint(style, `${sign} ${plain(key).padEnd(columns)}`)}  ${out.tint('dim', value)}`.trimEnd(),
    )
  for (const { key } of added) line('green', '+', key, mask)
  for (const { key } of changed) line('yellow', '~', key, `${mask} → ${mask}`)
  for (const key of removed) line('red', '-', key, '')
}

/** The default display of a value: a mask, or nothing for an empty value. */
function masked(value: string | null): string {
  return value === '' ? '' : mask
}

// The variables of a service: show, set, unset, import, edit. Values are secrets, printed only on request.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChangeEnv, EnvVar, ShownEnvVar } from '../../api/env.ts'
import type { Service } from '../../api/service.ts'
import { toEnvLine } from '../../domain/env-file.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, exitCodes, usageFailure, withoutSecrets } from '../failure.ts'
import { followUp, printDone, printNext, printUndo } from '../follow-up.ts'
import { parseAssignments, parseEnvText, readEnvFile, warnOfVariables } from '../service/env-file.ts'
import { resolveService } from '../service/resolve-target.ts'
import { type Output, plain } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { readFileOrInput } from '../terminal/standard-input.ts'
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
    env
      .command('set')
      .argument('<name>', 'the service')
      .argument('<KEY=value...>', 'KEY=- is stdin, without the line feed at its end'),
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
  await warnOfVariables(cli, name, { set })
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
  // The dry run also rejects an invalid change before the confirmation.
  await warnOfVariables(cli, name, change)
  const question = { message: `Save this for ${plain(name)}?`, instead: 'confirm with --yes' }
  if (!options.yes && !(await confirm(cli, question))) throw new CliFailure('nothing was saved')
  return saveEnv(cli, name, change, options)
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

function masked(value: string | null): string {
  return value === '' ? '' : mask
}

interface SavingOptions {
  restart?: boolean
  follow: boolean
}

/** Saved variables apply to the next deploy, or immediately with a restart. */
function addSavingOptions(command: BerthCommand): BerthCommand {
  return command
    .option('--restart', 'restart the service afterwards')
    .option('--no-follow', 'do not wait for the restart')
}

/** The variables; without values if the token may not read them. */
function readShownEnv({ client }: Cli, name: string): Promise<ShownEnvVar[]> {
  return client.call<ShownEnvVar[]>('GET', `${servicePath(name)}/env`)
}

/** The variables with their values. Throws (refused) for a token that may not read them. */
async function readEnv(cli: Cli, name: string): Promise<EnvVar[]> {
  return (await readShownEnv(cli, name)).map(({ key, value }) => {
    if (value === null) throw withoutSecrets(cli.server.url, 'the values of variables')
    return { key, value }
  })
}

/** Saves by key. `undo` are the commands that revert the change, if any. Returns the exit code. */
async function saveEnv(
  cli: Cli,
  name: string,
  change: { set?: ChangeEnv['set']; unset?: ChangeEnv['unset']; undo?: string[] },
  { restart, follow }: SavingOptions,
): Promise<number> {
  const { client, out } = cli
  const { undo = [], ...body } = change
  const path = servicePath(name)
  const before = await client.call<Service>('GET', path)
  const vars = await client.call<EnvVar[]>('PATCH', `${path}/env`, { body, query: { restart } })
  if (out.isJson) out.json(vars)
  printDone(cli, `saved: ${before.name} has ${count(vars.length, 'variable')}`)
  const { latest_deploy: deploy, live_deploy_id } = await client.call<Service>('GET', path)
  const isRestarting = restart && deploy && deploy.id !== before.latest_deploy?.id
  if (!isRestarting && live_deploy_id) printNext(cli, `berth restart ${before.name}`)
  for (const command of undo) printUndo(cli, command)
  return isRestarting ? followUp(cli, deploy, follow) : 0
}

// Opens a text in the user's editor. The file may hold secrets: only the user can read it, for that time.

const maxMib = 16
const terminationSignals = ['SIGHUP', 'SIGTERM'] as const

/** Returns the saved text. Throws without a terminal, and when the editor fails. */
async function editText(cli: Cli, text: string, name: string): Promise<string> {
  const { env, out } = cli
  if (!out.canAsk) throw usageFailure('an editor needs a terminal', 'berth env import NAME - reads a pipe')
  const folder = mkdtempSync(join(env.XDG_RUNTIME_DIR || tmpdir(), 'berth-edit-'))
  const path = join(folder, name)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const leave = () => process.exit(exitCodes.interrupted)
  // Removes the file however this process ends.
  process.once('exit', remove)
  for (const signal of terminationSignals) process.once(signal, leave)
  try {
    writeFileSync(path, text, { mode: 0o600 })
    await runEditor(cli, path)
    return await readFileOrInput(cli, path, maxMib)
  } finally {
    remove()
    process.off('exit', remove)
    for (const signal of terminationSignals) process.off(signal, leave)
  }
}

// `code --wait` is a program with an argument. Quotes are not supported, because no shell is used.
async function runEditor({ env, cwd }: Cli, path: string): Promise<void> {
  const editor = env.VISUAL || env.EDITOR || 'vi'
  const [program = '', ...args] = editor.trim().split(/\s+/)
  const child = spawn(program, [...args, path], { stdio: 'inherit', env, cwd })
  const [code] = await once(child, 'exit').catch((error: Error) => {
    throw new CliFailure(`cannot start ${program}: ${error.message}`, {
      hint: 'set EDITOR to another program',
    })
  })
  if (code !== 0) throw new CliFailure(`${program} exited with ${code}: nothing was saved`)
}

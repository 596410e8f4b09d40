// Blueprints: `berth plan`, `berth apply`, `berth export` and `berth schema`. A blueprint is a berth.yaml.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Wanted } from '../../blueprint/blueprint.ts'
import type { Plan, RunningService } from '../../blueprint/plan.ts'
import { type Secret, secretsFile } from '../../blueprint/secrets.ts'
import { count } from '../../quantities.ts'
import type { Applied } from '../blueprint/apply.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { printDone, printNext } from '../follow-up.ts'
import { readSecrets } from '../service/env-file.ts'
import { collect, parsePositive } from '../service/setting-flags.ts'
import { plain } from '../terminal/output.ts'
import { askSecret, askText, confirm } from '../terminal/prompts.ts'

const defaultFile = 'berth.yaml'

export function addBlueprintCommands(program: BerthCommand): void {
  program
    .command('plan')
    .argument('[file]', '- is stdin', defaultFile)
    .description('show what `berth apply` would change on the server')
    .examples('berth plan', 'berth plan staging.yaml --json')
    .runs(showPlan)
  program
    .command('apply')
    .argument('[file]', '- is stdin', defaultFile)
    .description('make the server what a berth.yaml says; nothing is deleted without --prune')
    .option('--plan <fingerprint>', 'only what this `berth plan` has shown; without asking')
    .option(
      '--secrets <file>',
      'lines of KEY=value or SERVICE.KEY=value, for secrets that the server does not have',
      collect,
    )
    .option('--prune', 'also delete services that the file does not name; their disks are kept')
    .option(
      '--prune-count <number>',
      'how many services --prune deletes, instead of typing it',
      parsePositive,
    )
    .option('-y, --yes', 'do not ask, except for what --prune deletes')
    .option('--no-follow', 'do not wait for the deploys of new services')
    .examples(
      'berth apply',
      'berth apply --plan 3f2a91c07b4e',
      'berth apply --yes --secrets .env',
      'berth apply --yes --prune --prune-count 2',
    )
    .runs(apply)
  program
    .command('export')
    .description('print a berth.yaml of all that the server has; values of variables stay there')
    .option('--show-values', 'with the values of variables, which may be secrets')
    .examples('berth export > berth.yaml', 'berth export --show-values --json')
    .runs(exportServer)
  program
    .command('schema')
    .description('print the JSON schema of berth.yaml, for editors')
    .examples('berth schema > berth.schema.json', 'berth schema --json')
    .runs(async ({ out }) => out.json((await import('../../blueprint/blueprint.ts')).blueprintSchema()))
}

async function showPlan(cli: Cli, file: string): Promise<number> {
  const { comparePlan } = await import('../blueprint/read.ts')
  const { printPlan } = await import('../blueprint/view.ts')
  const { plan } = await comparePlan(cli, file)
  if (cli.out.isJson) cli.out.json(plan)
  else printPlan(cli.out, plan)
  if (plan.refusals.length > 0) return exitCodes.failed
  const named = file === defaultFile ? '' : `${file} `
  const isImported = plan.missing.length > 0 && existsSync(resolve(cli.cwd, secretsFile))
  const secrets = isImported ? ` --secrets ${secretsFile}` : ''
  if (plan.changes.length > 0) printNext(cli, `berth apply ${named}--plan ${plan.fingerprint}${secrets}`)
  return exitCodes.ok
}

interface ApplyOptions {
  plan?: string
  secrets?: string[]
  prune?: boolean
  pruneCount?: number
  yes?: boolean
  follow: boolean
}

async function apply(cli: Cli, file: string, options: ApplyOptions): Promise<number> {
  const { out } = cli
  const { comparePlan, planFor } = await import('../blueprint/read.ts')
  const { printPlan } = await import('../blueprint/view.ts')
  const compared = await comparePlan(cli, file)
  const { plan, state } = compared
  const refusals = [...plan.refusals, ...(options.prune ? plan.in_use : [])]
  if (options.plan !== undefined && options.plan !== plan.fingerprint) throw outdated(file)
  const kept = plan.kept.filter(({ what }) => !options.prune || !what.startsWith('service '))
  if (out.isJson) out.json(plan)
  else printPlan({ print: out.say, paint: out.tint }, { ...plan, refusals, kept })
  if (refusals.length > 0)
    throw new CliFailure(`nothing was changed: ${count(refusals.length, 'thing')} cannot be as the file says`)
  const surplus = options.prune ? state.services.filter(({ name }) => plan.surplus.includes(name)) : []
  if (plan.changes.length + surplus.length === 0) return exitCodes.ok
  const secrets = await obtainSecrets(cli, compared, options)
  await agree(cli, plan, options)
  await agreeToPrune(cli, surplus, options)
  // Until the questions are answered, much time can pass.
  const { plan: current } = await planFor(cli, compared.wanted)
  if (current.fingerprint !== plan.fingerprint) throw outdated(file)
  const { applyPlan, deleteServices } = await import('../blueprint/apply.ts')
  const exitCode = await applyPlan(cli, { ...compared, secrets }, options)
  // What serves now is kept until what replaces it does.
  const isReplaced = options.follow || plan.changes.every(({ action }) => action !== 'create')
  if (surplus.length > 0 && exitCode === exitCodes.ok && isReplaced) {
    // Deploys take a while, in which a service may have come to refer to one of these.
    const { plan: last } = await planFor(cli, compared.wanted)
    if (last.in_use.length > 0) throw new CliFailure(`not deleted: ${last.in_use[0]!.reason}`)
    await deleteServices(cli, surplus)
  } else if (surplus.length > 0) printNext(cli, `berth apply ${file} --prune`)
  if (exitCode === exitCodes.ok) printDone(cli, `${plain(cli.serverName)} is what ${plain(file)} says`)
  return exitCode
}

/** Each value from the files, or from a prompt that does not show it. */
async function obtainSecrets(
  cli: Cli,
  { plan, wanted }: { plan: Plan; wanted: Wanted },
  { secrets = [] }: ApplyOptions,
): Promise<Applied['secrets']> {
  const given: Secret[] = []
  for (const path of secrets) given.push(...(await readSecrets(cli, path)))
  const names = [null, ...wanted.services.map(({ name }) => name)]
  const stray = given.find(({ service }) => !names.includes(service))
  if (stray)
    throw usageFailure(`nothing was changed: ${stray.service}.${stray.key} is of no service of the file`)
  const obtained: Applied['secrets'] = []
  const { secretProblem } = await import('../../blueprint/blueprint.ts')
  const answers = new Map<string, string>()
  for (const { service, key } of plan.missing) {
    const lines = given.filter((one) => one.key === key)
    const line = lines.find((one) => one.service === service) ?? lines.find((one) => one.service === null)
    const value = line?.value ?? answers.get(key) ?? (await askForSecret(cli, service, key))
    if (line === undefined) answers.set(key, value)
    const problem = secretProblem(value)
    if (problem) throw usageFailure(`nothing was changed: the secret ${key} ${problem}`)
    obtained.push({ service, key, value })
  }
  return obtained
}

/** A name such as MYSQL_DATABASE is shown while it is typed. */
async function askForSecret(cli: Cli, service: string, key: string): Promise<string> {
  const instead = `berth env set ${service} ${key}=-, or for a new service: berth apply --secrets FILE`
  const { isPlainSetting } = await import('../../blueprint/secrets.ts')
  const [ask, noun] = isPlainSetting(key) ? [askText, 'setting'] : [askSecret, 'secret']
  const value = await ask(cli, { message: `The ${noun} ${key} of ${plain(service)}?`, instead })
  if (value === '') throw usageFailure(`the ${noun} ${key} is empty`, instead)
  return value
}

async function agree(cli: Cli, { changes }: Plan, { plan, yes }: ApplyOptions): Promise<void> {
  if (changes.length === 0 || yes || plan !== undefined) return
  const question = { message: 'Apply this?', instead: 'confirm with --yes, or with --plan of `berth plan`' }
  if (!(await confirm(cli, question))) throw new CliFailure('nothing was changed')
}

type Services = RunningService[]

async function agreeToPrune(cli: Cli, services: Services, { pruneCount }: ApplyOptions): Promise<void> {
  if (services.length === 0) return
  const listed = (some: Services) => some.map(({ name }) => plain(name)).join(', ')
  const kept = services.filter(({ disk_mount_path }) => disk_mount_path !== null)
  cli.out.say(`   deletes ${listed(services)}: deploys, logs, settings, and the values of secrets`)
  if (kept.length > 0) cli.out.say(`   keeps the disk of ${listed(kept)}, until it is deleted: berth disks`)
  const message = 'Type how many services are deleted:'
  const instead = `confirm with --prune-count ${services.length}`
  const typed = pruneCount ?? Number(await askText(cli, { message, instead }))
  if (typed === services.length) return
  throw new CliFailure('the number does not match: nothing was changed', {
    hint: `not in the file: ${listed(services)}`,
  })
}

function outdated(file: string): CliFailure {
  return new CliFailure(`nothing was changed: the server or ${file} is not what the plan was made from`, {
    hint: 'berth plan shows what would change now',
  })
}

async function exportServer(cli: Cli, { showValues = false }: { showValues?: boolean }): Promise<void> {
  const { exportBlueprint, printBlueprint } = await import('../../blueprint/print.ts')
  const { readServer } = await import('../blueprint/read.ts')
  const state = await readServer(cli)
  const blueprint = exportBlueprint(state, { showValues })
  const { isJson, isTerminal, json, print } = cli.out
  if (isJson) return json(blueprint)
  for (const line of printBlueprint(blueprint).trimEnd().split('\n')) print(isTerminal ? plain(line) : line)
}

// `berth diff`: what the next deploy would change, or what differs between two deploys. Variables by key.
import type { DeployDiff } from '../../api/deploy-diff.ts'
import type { Service } from '../../api/service.ts'
import { deployPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, exitCodes } from '../failure.ts'
import { printNext } from '../follow-up.ts'
import { resolveService } from '../service/resolve-target.ts'
import { plain, type Style } from '../terminal/output.ts'
import { printTable } from '../terminal/table.ts'

type Difference = Omit<DeployDiff, 'against'> & { from: string; to: string }

interface Row {
  sign: '+' | '~' | '-'
  what: string
  change: string
}

const styles: Record<Row['sign'], Style> = { '+': 'green', '~': 'yellow', '-': 'red' }

export function addDiffCommands(program: BerthCommand): void {
  program
    .command('diff')
    .argument('[name]', 'the service')
    .argument('[deploy]', 'a deploy to compare with; by default what is saved')
    .description('show what the next deploy would change; with DEPLOY, what a rollback would')
    .option('--from <deploy>', 'compare with this deploy instead of the live one')
    .examples(
      'berth diff shop',
      'berth diff shop dep-01jzx3v8m2q4t6w8y0a2c4e6g8',
      'berth diff shop dep-01k5yq0v3nhx8m2r7c9d4f6gbt --from dep-01jzx3v8m2q4t6w8y0a2c4e6g8',
    )
    .runs(showDiff)
}

async function showDiff(
  cli: Cli,
  nameOrFolder: string | undefined,
  deploy: string | undefined,
  { from }: { from?: string },
): Promise<void> {
  const name = await resolveService(cli, nameOrFolder)
  const base = from ?? (await liveDeploy(cli, name))
  const difference = deploy === undefined ? await untilSaved(cli, base) : await between(cli, base, deploy)
  if (cli.out.isJson) cli.out.json(difference)
  else printDifference(cli, name, difference)
}

async function liveDeploy({ client }: Cli, name: string): Promise<string> {
  const { live_deploy_id } = await client.call<Service>('GET', servicePath(name))
  if (live_deploy_id !== null) return live_deploy_id
  throw new CliFailure(`${name} is not live, so there is nothing to compare with`, {
    exitCode: exitCodes.notFound,
    hint: `berth deploy ${name}, or --from DEPLOY`,
  })
}

async function between({ client }: Cli, from: string, to: string): Promise<Difference> {
  const query = { against: from }
  const { against, ...rest } = await client.call<DeployDiff>('GET', `${deployPath(to)}/diff`, { query })
  return { from: against ?? from, to, ...rest }
}

/** The server compares a deploy with what is saved; a reader asks what the next deploy changes. */
async function untilSaved({ client }: Cli, from: string): Promise<Difference> {
  const query = { against: 'saved' }
  const path = `${deployPath(from)}/diff`
  const { against: _, settings, env, ...rest } = await client.call<DeployDiff>('GET', path, { query })
  return {
    from,
    to: 'saved',
    ...rest,
    settings: settings.map((one) => ({ field: one.field, from: one.to, to: one.from })),
    env: { added: env.removed, changed: env.changed, removed: env.added },
  }
}

function printDifference(cli: Cli, name: string, difference: Difference): void {
  const { out } = cli
  const { from, to, complete, obstacle, commit } = difference
  const rows = toRows(difference)
  if (rows.length > 0) {
    out.say(out.tint('dim', ` ${plain(from)} → ${plain(to)}`))
    printTable(out, rows, [
      { heading: '', text: ({ sign }) => sign, style: ({ sign }) => styles[sign] },
      { heading: 'WHAT', text: ({ what }) => what },
      { heading: 'CHANGE', text: ({ change }) => change, isFlexible: true },
    ])
  } else if (complete)
    out.say(`nothing differs between ${plain(from)} and ${to === 'saved' ? 'what is saved' : plain(to)}`)
  if (!complete) out.say('settings and variables are not compared: those of one deploy are gone')
  if (commit?.compare_url) out.say(out.tint('dim', ` ${plain(commit.compare_url)}`))
  if (to === 'saved') {
    if (rows.length > 0) printNext(cli, `berth deploy ${name}`)
  } else if (obstacle) {
    out.say(` it cannot run again: ${plain(obstacle.reason)}`)
    if (obstacle.hint) printNext(cli, obstacle.hint)
  } else if (rows.length > 0) printNext(cli, `berth rollback ${name} ${to}`)
}

function toRows({ commit, image, settings, env }: Difference): Row[] {
  const moved = (what: string, change: { from: unknown; to: unknown } | null): Row[] =>
    change ? [{ sign: '~', what, change: `${shown(change.from)} → ${shown(change.to)}` }] : []
  const variables = (sign: Row['sign'], keys: string[], change: string): Row[] =>
    keys.map((key) => ({ sign, what: key, change }))
  return [
    ...moved('commit', commit && { from: short(commit.from), to: short(commit.to) }),
    ...moved('image', image),
    ...settings.flatMap((setting) => moved(setting.field, setting)),
    ...variables('+', env.added, 'new variable'),
    ...variables('~', env.changed, 'another value'),
    ...variables('-', env.removed, 'variable removed'),
  ]
}

function short(sha: string | null): string | null {
  return sha?.slice(0, 7) ?? null
}

function shown(value: unknown): string {
  if (value === null || value === '') return 'unset'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

// Moves a Postgres to another major version, and back: `berth db upgrade`.
import type { Datastore, UpgradeEstimate } from '../../../api/datastore.ts'
import { size } from '../../../quantities.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { datastorePath, waitForDatastore } from '../../datastore/datastore.ts'
import { CliFailure, usageFailure } from '../../failure.ts'
import { printDone } from '../../follow-up.ts'
import { age, span } from '../../terminal/ages.ts'
import { plain } from '../../terminal/output.ts'
import { confirm } from '../../terminal/prompts.ts'

interface UpgradeOptions {
  to?: string
  back?: boolean
  cancel?: boolean
  yes?: boolean
}

export function addUpgradeCommand(db: BerthCommand): void {
  db.command('upgrade')
    .argument('<name>', 'the datastore')
    .description('move a Postgres to a newer major version; it is closed to clients while its data is copied')
    .option('--to <version>', 'the newer version')
    .option('--back', 'return to the version before the newest upgrade, without the writes since then')
    .option('--cancel', 'stop an upgrade that runs, and reopen the version that it had')
    .option('--yes', 'do not ask')
    .examples(
      'berth db upgrade shop-db --to 18',
      'berth db upgrade shop-db --back',
      'berth db upgrade shop-db --cancel',
    )
    .runs(upgrade)
}

async function upgrade(cli: Cli, name: string, { to, back, cancel, yes }: UpgradeOptions): Promise<number> {
  const chosen = [to, back, cancel].filter((option) => option !== undefined)
  if (chosen.length !== 1) throw usageFailure('what should be done?', 'give --to VERSION, --back or --cancel')
  if (cancel) return cancelUpgrade(cli, name)
  const message = to === undefined ? await returnQuestion(cli, name) : await upgradeQuestion(cli, name, to)
  if (!yes && !(await confirm(cli, { message, instead: 'confirm with --yes' }))) {
    cli.out.say('nothing was changed')
    return 0
  }
  const body = to === undefined ? { back: true } : { version: to }
  return follow(cli, name, () =>
    cli.client.call<Datastore>('POST', `${datastorePath(name)}/upgrade`, { body }),
  )
}

async function upgradeQuestion({ client }: Cli, name: string, version: string): Promise<string> {
  const path = `${datastorePath(name)}/upgrade`
  const { from, to, size_bytes, downtime_seconds } = await client.call<UpgradeEstimate>('GET', path, {
    query: { version },
  })
  const move = `Postgres ${from} to ${to} with ${size(size_bytes)} of data`
  return `${move}: no client can connect for about ${span(downtime_seconds)}. Go on?`
}

async function returnQuestion({ client }: Cli, name: string): Promise<string> {
  const { former, version } = await client.call<Datastore>('GET', datastorePath(name))
  if (former === null)
    throw new CliFailure(`there is no former version of ${plain(name)} to return to`, {
      hint: `berth db show ${name}`,
    })
  const { version: wanted, switched_at: at } = former
  return `Postgres ${version} back to ${wanted}: all writes since ${at} (${age(at)}) are lost. Go on?`
}

/** Throws if the upgrade failed, although the datastore is available. */
async function follow(cli: Cli, name: string, ask: () => Promise<Datastore>): Promise<number> {
  let id: string | undefined
  const code = await waitForDatastore(cli, { name, verb: 'upgrading' }, async () => {
    const datastore = await ask()
    id = datastore.upgrade?.id
    return datastore
  })
  const { upgrade: newest, version } = await cli.client.call<Datastore>('GET', datastorePath(name))
  if (newest === null || newest.id !== id || newest.error === null) return code
  throw new CliFailure(`the upgrade to ${newest.to} failed: ${newest.error}`, {
    hint: `${name} serves as Postgres ${version}, with all its data`,
  })
}

async function cancelUpgrade(cli: Cli, name: string): Promise<number> {
  const path = `${datastorePath(name)}/upgrade/cancel`
  const datastore = await cli.client.call<Datastore>('POST', path)
  if (cli.out.isJson) cli.out.json(datastore)
  else printDone(cli, `the upgrade of ${name} is canceled; Postgres ${datastore.version} opens again`)
  return 0
}

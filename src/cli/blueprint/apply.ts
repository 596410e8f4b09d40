// Makes a server what a blueprint says, by the requests of the other commands. After a failure, applying
// again goes on with the rest.
import type { Datastore } from '../../api/datastore.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { Wanted } from '../../blueprint/blueprint.ts'
import type { Change, Plan, ServerState } from '../../blueprint/plan.ts'
import { changedDomains, changedEnv, changedSettings, fixedSettings } from '../../blueprint/plan.ts'
import { quote } from '../../domain/shell-word.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { datastorePath, untilAvailable } from '../datastore/datastore.ts'
import { CliFailure } from '../failure.ts'
import { followUp, printDone, printNext } from '../follow-up.ts'

export interface Applied {
  wanted: Wanted
  state: ServerState
  plan: Plan
  /** The values of the missing secrets. */
  secrets: { service: string; key: string; value: string }[]
}

/** All services exist before the first of them is deployed, because they may refer to each other. */
export async function applyPlan(
  cli: Cli,
  applied: Applied,
  { follow }: { follow: boolean },
): Promise<number> {
  const datastores = applied.plan.changes.filter(({ noun }) => noun === 'datastore')
  for (const change of datastores) await applyDatastore(cli, applied, change)
  const changes = applied.plan.changes.filter(({ noun }) => noun === 'service')
  for (const change of changes) await applyService(cli, applied, change)
  let exitCode = 0
  for (const change of changes) {
    const { folder = null } = applied.wanted.services.find(({ name }) => name === change.name)!
    const service = await cli.client.call<Service>('GET', servicePath(change.name))
    const next = nextCommand(service, folder, change)
    if (service.latest_deploy === null && (service.repo_url || service.image)) {
      const queued = await cli.client.call<Deploy>('POST', `${servicePath(change.name)}/deploys`)
      cli.out.say(`   deploying ${change.name}`)
      exitCode = Math.max(exitCode, await followUp(cli, queued, follow))
    } else if (next) printNext(cli, next)
  }
  return exitCode
}

async function applyDatastore(cli: Cli, { wanted }: Applied, { name, action }: Change): Promise<void> {
  const { request } = wanted.datastores.find((one) => one.name === name)!
  const isFixed = (key: string) => (fixedSettings as readonly string[]).includes(key)
  const body = Object.fromEntries(Object.entries(request).filter(([key]) => !isFixed(key)))
  if (action === 'change') await cli.client.call('PATCH', datastorePath(name), { body })
  else
    await untilAvailable(cli, { name, verb: 'creating' }, () =>
      cli.client.call<Datastore>('POST', '/datastores', { body: { name, ...request } }),
    )
  printDone(cli, `datastore ${name} was ${action}d`)
}

async function applyService(cli: Cli, { wanted, state, secrets }: Applied, { name, action }: Change) {
  const { client } = cli
  const service = wanted.services.find((one) => one.name === name)!
  const current = state.services.find((one) => one.name === name)
  const path = servicePath(name)
  const settings = Object.fromEntries(
    changedSettings(service, current).map((key) => [key, service.request[key]]),
  )
  const known = secrets.filter((one) => one.service === name).map(({ key, value }) => ({ key, value }))
  const env = [...changedEnv(service, current), ...known]
  if (!current) {
    const body = { name, type: service.type, ...settings, env, deploy: false }
    await client.call('POST', '/services', { body })
  } else {
    if (Object.keys(settings).length > 0) await client.call('PATCH', path, { body: settings })
    if (env.length > 0) await client.call('PATCH', `${path}/env`, { body: { set: env } })
  }
  for (const body of changedDomains(service, current)) await client.call('POST', `${path}/domains`, { body })
  printDone(cli, `service ${name} was ${action}d`)
}

/** The command that puts settings into effect; null if they are already. */
function nextCommand(service: Service, folder: string | null, { action, details }: Change): string | null {
  const { name, repo_url, image, live_deploy_id } = service
  const waits = (when: string) => details.some(({ takes_effect }) => takes_effect === when)
  if (action === 'create' || waits('at build') || (!live_deploy_id && waits('at restart'))) {
    if (repo_url || image) return `berth deploy ${name}`
    return folder === null ? `berth up ${name}` : `berth up ${name} ${quote(folder)}`
  }
  return waits('at restart') ? `berth restart ${name}` : null
}

/** A service that another one refers to goes after that one. */
export async function deleteServices(cli: Cli, names: string[]): Promise<void> {
  const refused: string[] = []
  for (const name of names) {
    try {
      await cli.client.call('DELETE', servicePath(name))
      printDone(cli, `service ${name} is being deleted`)
    } catch (error) {
      const isInUse = error instanceof CliFailure && error.code === 'in_use'
      if (!isInUse || (name === names.at(-1) && refused.length === names.length - 1)) throw error
      refused.push(name)
    }
  }
  if (refused.length > 0) await deleteServices(cli, refused)
}

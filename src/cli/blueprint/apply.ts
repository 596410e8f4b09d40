// Makes a server what a blueprint says, by the requests of the other commands. After a failure the same
// command goes on with the rest.
import type { Datastore } from '../../api/datastore.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { EnvVar } from '../../api/env.ts'
import type { Service } from '../../api/service.ts'
import type { Wanted, WantedService } from '../../blueprint/blueprint.ts'
import {
  type Change,
  changedDomains,
  changedEnv,
  changedSettings,
  fixedSettings,
  type Plan,
  type RunningService,
  type ServerState,
} from '../../blueprint/plan.ts'
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
  const { plan, wanted } = applied
  const created: Service[] = []
  for (const change of plan.changes) {
    if (change.noun === 'datastore') await applyDatastore(cli, applied, change)
    else if (change.action === 'change') await changeService(cli, applied, change)
    else created.push(await createService(cli, applied, change))
  }
  let exitCode = 0
  for (const service of created) {
    const { folder = null } = wanted.services.find(({ name }) => name === service.name)!
    if (!service.repo_url && !service.image) printNext(cli, uploadCommand(service.name, folder))
    else exitCode = Math.max(exitCode, await deploy(cli, service, follow))
  }
  return exitCode
}

async function applyDatastore(cli: Cli, { wanted }: Applied, { name, action }: Change): Promise<void> {
  const { request } = wanted.datastores.find((one) => one.name === name)!
  if (action === 'create') {
    const body = { name, ...request }
    await untilAvailable(cli, { name, verb: 'creating' }, () =>
      cli.client.call<Datastore>('POST', '/datastores', { body }),
    )
    return printDone(cli, `datastore ${name} was created`)
  }
  const isFixed = (key: string) => (fixedSettings as readonly string[]).includes(key)
  const body = Object.fromEntries(Object.entries(request).filter(([key]) => !isFixed(key)))
  await cli.client.call('PATCH', datastorePath(name), { body })
  printDone(cli, `datastore ${name} was changed`)
}

async function createService(cli: Cli, applied: Applied, { name }: Change): Promise<Service> {
  const { wanted } = findBoth(applied, name)
  const env = envToSet(applied, wanted, undefined)
  const body = { name, type: wanted.type, ...settingsToSend(wanted, undefined), env, deploy: false }
  const service = await cli.client.call<Service>('POST', '/services', { body })
  await addDomains(cli, wanted, undefined)
  printDone(cli, `service ${name} was created`)
  return service
}

async function changeService(cli: Cli, applied: Applied, { name, details }: Change): Promise<void> {
  const { wanted, current } = findBoth(applied, name)
  const path = servicePath(name)
  const body = settingsToSend(wanted, current)
  const set = envToSet(applied, wanted, current)
  if (Object.keys(body).length > 0) await cli.client.call('PATCH', path, { body })
  if (set.length > 0) await cli.client.call('PATCH', `${path}/env`, { body: { set } })
  await addDomains(cli, wanted, current)
  printDone(cli, `service ${name} was changed`)
  const service = await cli.client.call<Service>('GET', path)
  const next = nextCommand(service, wanted.folder, details)
  if (next) printNext(cli, next)
}

/** The command that puts changed settings into effect; null if they are already. */
function nextCommand(
  { name, repo_url, image, live_deploy_id }: Service,
  folder: string | null,
  details: Change['details'],
) {
  const waits = (when: string) => details.some(({ takes_effect }) => takes_effect === when)
  if (waits('at build') || (!live_deploy_id && waits('at restart'))) {
    return repo_url || image ? `berth deploy ${name}` : uploadCommand(name, folder)
  }
  return waits('at restart') ? `berth restart ${name}` : null
}

function uploadCommand(name: string, folder: string | null): string {
  return folder === null ? `berth up ${name}` : `berth up ${name} ${quote(folder)}`
}

function findBoth({ wanted, state }: Applied, name: string) {
  const isNamed = (service: { name: string }) => service.name === name
  return { wanted: wanted.services.find(isNamed)!, current: state.services.find(isNamed) }
}

function settingsToSend(wanted: WantedService, current: RunningService | undefined): object {
  return Object.fromEntries(changedSettings(wanted, current).map((key) => [key, wanted.request[key]]))
}

function envToSet(
  { secrets }: Applied,
  wanted: WantedService,
  current: RunningService | undefined,
): EnvVar[] {
  const own = secrets.filter(({ service }) => service === wanted.name)
  return [...changedEnv(wanted, current), ...own.map(({ key, value }) => ({ key, value }))]
}

/** The host that others redirect to has to be there first. */
async function addDomains(
  cli: Cli,
  wanted: WantedService,
  current: RunningService | undefined,
): Promise<void> {
  const isRedirect = ({ redirect_to }: { redirect_to?: string | undefined }) => redirect_to !== undefined
  const changed = changedDomains(wanted, current)
  for (const body of [...changed.filter((one) => !isRedirect(one)), ...changed.filter(isRedirect)])
    await cli.client.call('POST', `${servicePath(wanted.name)}/domains`, { body })
}

async function deploy(cli: Cli, { name }: Service, follow: boolean): Promise<number> {
  const queued = await cli.client.call<Deploy>('POST', `${servicePath(name)}/deploys`)
  cli.out.say(`   deploying ${name}`)
  return followUp(cli, queued, follow)
}

/** A service that another one refers to goes after that one. */
export async function deleteServices(cli: Cli, names: string[]): Promise<void> {
  let left = names
  while (left.length > 0) {
    const refused: { name: string; error: unknown }[] = []
    for (const name of left) {
      try {
        await cli.client.call('DELETE', servicePath(name))
        printDone(cli, `service ${name} is being deleted`)
      } catch (error) {
        if (!(error instanceof CliFailure) || error.code !== 'in_use') throw error
        refused.push({ name, error })
      }
    }
    if (refused.length === left.length) throw refused[0]!.error
    left = refused.map(({ name }) => name)
  }
}

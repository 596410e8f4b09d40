// Makes a server what a blueprint says, by the requests of the other commands. After a failure, applying
// again goes on with the rest.
import type { Datastore } from '../../api/datastore.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { Wanted } from '../../blueprint/blueprint.ts'
import type { Change, Plan, ServerState } from '../../blueprint/plan.ts'
import {
  changedDomains,
  changedEnv,
  changedSettings,
  fixedSettings,
  isUndeployed,
} from '../../blueprint/plan.ts'
import { quote } from '../../domain/shell-word.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { datastorePath, untilAvailable } from '../datastore/datastore.ts'
import { followUp, printDone, printNext } from '../follow-up.ts'
import { withKeptDisk } from '../service/creation.ts'
import { plain } from '../terminal/output.ts'

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
  const { changes } = applied.plan
  const services = changes.filter(({ noun }) => noun === 'service')
  const steps = [
    ...changes.map((change) => ({
      what: `${change.noun} ${change.name}`,
      run: () => (change.noun === 'datastore' ? applyDatastore : applyService)(cli, applied, change),
    })),
    ...services
      .filter(({ name }) => isUndeployed(afterwards(applied, name)))
      .map(({ name }) => ({
        what: `deploy of ${name}`,
        run: async () => {
          const queued = await cli.client.call<Deploy>('POST', `${servicePath(name)}/deploys`)
          cli.out.say(`   deploying ${name}`)
          return followUp(cli, queued, follow)
        },
      })),
  ]
  let finished = 0
  let exitCode = 0
  try {
    for (const { run } of steps) {
      exitCode = Math.max(exitCode, (await run()) ?? 0)
      finished += 1
    }
  } finally {
    const open = steps.slice(finished).map(({ what }) => what)
    if (open.length > 0) cli.out.say(`   not finished: ${plain(open.join(', '))}; apply again to go on`)
    // Also for the one that failed in its middle: the next plan does not know what was saved.
    for (const change of services.filter((one) => changes.indexOf(one) <= finished)) {
      const next = nextCommand(afterwards(applied, change.name), change)
      if (next) printNext(cli, next)
    }
  }
  return exitCode
}

/** With the wanted settings. */
function afterwards({ wanted, state }: Applied, name: string): Partial<Service> & { folder: string | null } {
  const { settings, folder } = wanted.services.find((one) => one.name === name)!
  const { latest_deploy = null, ...current } = state.services.find((one) => one.name === name) ?? {}
  return { ...current, ...(settings as Partial<Service>), latest_deploy, name, folder }
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
    const body = await withKeptDisk(cli, { name, type: service.type, ...settings, env, deploy: false })
    await client.call('POST', '/services', { body })
  } else {
    if (Object.keys(settings).length > 0) await client.call('PATCH', path, { body: settings })
    if (env.length > 0) await client.call('PATCH', `${path}/env`, { body: { set: env } })
  }
  for (const body of changedDomains(service, current)) await client.call('POST', `${path}/domains`, { body })
  printDone(cli, `service ${name} was ${action}d`)
}

/** The command that puts settings into effect; null if they are already, or if a deploy does it. */
function nextCommand(service: ReturnType<typeof afterwards>, { action, details }: Change): string | null {
  const { name, repo_url, image, live_deploy_id, folder } = service
  const waits = (when: string) => details.some(({ takes_effect }) => takes_effect === when)
  if (isUndeployed(service)) return null
  if (action === 'create' || waits('at build') || (!live_deploy_id && waits('at restart'))) {
    if (repo_url || image) return `berth deploy ${name}`
    return folder === null ? `berth up ${name}` : `berth up ${name} ${quote(folder)}`
  }
  return waits('at restart') ? `berth restart ${name}` : null
}

/** By force, because they may refer to each other: the plan knows that no other service does. */
export async function deleteServices(cli: Cli, services: { name: string }[]): Promise<void> {
  for (const { name } of services) {
    await cli.client.call('DELETE', servicePath(name), { query: { force: true } })
    printDone(cli, `service ${name} is being deleted`)
  }
}

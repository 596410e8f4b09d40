// What a blueprint and a server have, as the commands of blueprints compare it.
import type { Datastore } from '../../api/datastore.ts'
import type { Disk } from '../../api/disk.ts'
import type { ServiceDomain } from '../../api/domains.ts'
import type { ShownEnvVar } from '../../api/env.ts'
import type { Info } from '../../api/info.ts'
import type { Service } from '../../api/service.ts'
import { InvalidBlueprint, parseBlueprint, type Wanted } from '../../blueprint/blueprint.ts'
import { makePlan, type Plan, type RunningService, type ServerState } from '../../blueprint/plan.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { orNull, usageFailure, withoutSecrets } from '../failure.ts'
import { readFileOrInput } from '../terminal/standard-input.ts'

const fileLimitMib = 4

interface Compared {
  wanted: Wanted
  state: ServerState
  plan: Plan
}

export async function comparePlan(cli: Cli, path: string): Promise<Compared> {
  return planFor(cli, await readBlueprint(cli, path))
}

export async function planFor(cli: Cli, wanted: Wanted): Promise<Compared> {
  const state = await readServer(cli)
  return { wanted, state, plan: makePlan(wanted, state) }
}

/** Throws a usage failure with every violation and its line. */
async function readBlueprint(cli: Cli, path: string): Promise<Wanted> {
  const hint = 'berth import writes one from a Compose file, berth export prints what runs'
  const text = await readFileOrInput(cli, path, fileLimitMib, hint)
  try {
    return parseBlueprint(text)
  } catch (error) {
    if (!(error instanceof InvalidBlueprint)) throw error
    const lines = error.issues.map((issue) => `${path}:${issue.line} ${issue.path}: ${issue.message}`)
    throw usageFailure(lines.join('\n'), 'berth schema prints the schema of the file, for editors')
  }
}

/** Without what is being deleted. Throws (refused) for a token that may not read the values of variables. */
export async function readServer({ client, server }: Cli): Promise<ServerState> {
  const [services, datastores, info, disks] = await Promise.all([
    client.call<Service[]>('GET', '/services'),
    client.call<Datastore[]>('GET', '/datastores'),
    orNull(client.call<Info>('GET', '/info')),
    orNull(client.call<Disk[]>('GET', '/disks')),
  ])
  const leaving = [
    ...services.filter(({ state }) => state === 'deleting'),
    ...datastores.filter(({ status }) => status === 'deleting'),
  ].map(({ name }) => name)
  const running = services
    .filter(({ state }) => state !== 'deleting')
    .map(async (service): Promise<RunningService> => {
      const path = servicePath(service.id)
      const [env, domains] = await Promise.all([
        client.call<ShownEnvVar[]>('GET', `${path}/env`),
        service.custom_domains.length === 0 ? [] : client.call<ServiceDomain[]>('GET', `${path}/domains`),
      ])
      const readable = env.map(({ key, value }) => {
        if (value === null) throw withoutSecrets(server.url, 'the values of variables')
        return { key, value }
      })
      return { ...service, env: readable, domains: domains.filter(({ kind }) => kind === 'custom') }
    })
  return {
    services: await Promise.all(running),
    datastores: datastores.filter(({ status }) => status !== 'deleting'),
    leaving,
    disks: disks ?? [],
    ...(info ? { baseDomain: info.base_domain } : {}),
  }
}

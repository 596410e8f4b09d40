// The swaps of a run: each is requested through the API, and complete when the new instances serve and the
// old ones are gone.
import type { Chance } from '../crash/random.ts'
import type { Api, Body } from '../support/daemon/api.ts'
import { finishedDeploy, until } from '../support/daemon/service.ts'
import type { App } from './app.ts'
import { createDeck } from './deck.ts'
import { readTimes } from './deploy-times.ts'
import { type Swap, type SwapKind, swapKinds } from './evidence.ts'

export interface Stage {
  api: Api
  app: App
  neighbour: App
  chance: Chance
  drainMs: number
}

const maxInstances = 3
/** One of this many swaps is the neighbour's. */
const neighbourEvery = 4

/** Returns a function that performs the next swap. It throws if a swap does not complete. */
export function createSwaps(stage: Stage): () => Promise<Swap> {
  const { chance, app, neighbour } = stage
  const nextKind = createDeck(chance, swapKinds)
  const nextApp = createDeck(chance, [neighbour, ...new Array<App>(neighbourEvery - 1).fill(app)])
  let number = 0
  return async () => {
    number++
    const [kind, chosen] = [nextKind(), nextApp()]
    return { number, kind, service: chosen.name, ...(await swap(stage, chosen, kind)) }
  }
}

async function swap({ api, chance, drainMs }: Stage, app: App, kind: SwapKind): Promise<Omit<Swap, Named>> {
  const before = await listContainers(api, app)
  const previous = (await api.get(`/services/${app.id}`)).live_deploy_id
  const askedAt = Date.now()
  const requested = await ask[kind](api, app, chance, previous)
  const done = requested.deploy
    ? await awaitDeploy(api, app, requested.deploy, previous, drainMs)
    : await awaitInstances(api, app, askedAt + drainMs)
  const after = await listContainers(api, app)
  return {
    ...done,
    words: requested.words,
    askedAt,
    doneAt: Date.now(),
    left: before.filter((container) => !after.includes(container)),
    joined: after.filter((container) => !before.includes(container)),
  }
}

type Named = 'number' | 'kind' | 'service'
type Asked = { words: string; deploy: string | null }
type Ask = (api: Api, app: App, chance: Chance, live: string) => Promise<Asked>

const ask: Record<SwapKind, Ask> = {
  async deploy(api, app) {
    const words = `to ${app.release()}`
    return { words, deploy: (await api.post(`/services/${app.id}/deploys`)).id }
  },
  async rollback(api, app, chance, live) {
    const all: Body[] = await api.get(`/services/${app.id}/deploys?limit=500`)
    const previous = all.filter(({ id, status }) => status === 'deactivated' && id !== live).slice(0, 5)
    const deploy_id = chance.pick(previous).id
    const { id } = await api.post(`/services/${app.id}/rollback`, { deploy_id })
    return { words: `to ${deploy_id}`, deploy: id }
  },
  async restart(api, app, _, live) {
    return { words: `of ${live}`, deploy: (await api.post(`/services/${app.id}/restart`)).id }
  },
  async scale(api, app, chance) {
    const counts = Array.from({ length: maxInstances }, (_, index) => index + 1)
    const from = app.instances
    app.instances = chance.pick(counts.filter((count) => count !== from))
    await api.post(`/services/${app.id}/scale`, { instances: app.instances })
    return { words: `from ${from} to ${app.instances}`, deploy: null }
  },
}

async function awaitDeploy(api: Api, app: App, id: string, previous: string, drainMs: number) {
  const { status, error } = await finishedDeploy(api, id)
  if (status !== 'live') throw new Error(`${id} of ${app.name} is ${status}: ${error}`)
  const gone = await until(`${previous} to be deactivated`, async () => {
    const times = await readTimes(api, app.name, previous)
    return times.deactivatedAt === null ? null : times
  })
  const { liveAt, switchingAt } = await readTimes(api, app.name, id)
  return { liveAt: liveAt!, switchingAt, limitAt: gone.drainingAt! + drainMs }
}

/** Waits for the wanted number of instances, without any that are draining. */
async function awaitInstances(api: Api, app: App, limitAt: number) {
  await until(`${app.instances} instances of ${app.name}`, async () => {
    const { instances } = await api.get(`/services/${app.id}/status`)
    return instances.length === app.instances && instances.every(isServing)
  })
  return { liveAt: Date.now(), switchingAt: null, limitAt }
}

function isServing({ state, role }: Body): boolean {
  return state === 'running' && role === 'live'
}

async function listContainers(api: Api, { id }: App): Promise<string[]> {
  const { instances } = await api.get(`/services/${id}/status`)
  return instances.map((instance: Body) => instance.container_id.slice(0, 12))
}

// The daemon's memory when idle, and whether a thousand deploys increase it.
// A thousand live deploys would take a quarter of an hour, so only each tenth is a real restart with a
// container. A third of the others is canceled at once, and the rest fail to fetch.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../support/daemon/api.ts'
import { finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { type Berthd, startBerthd, whenHealthy } from './berthd.ts'
import { type Figure, figure } from './figure.ts'

type Kind = 'restart' | 'cancel' | 'fail'

const workers = 4
/** The change feed is still filling up to its 8192 changes, and V8 retains compiled code. */
const meantToGrowMb = 2

interface Moment {
  resident: number
  used: number
}

export async function measureMemory(bench: Bench): Promise<Figure[]> {
  const berthd = await startBerthd(bench, temporaryDirectory(bench), { probed: true })
  await whenHealthy(berthd)
  const idle = await atRest(bench, berthd)
  const { api } = berthd
  await createServices(bench, api)

  const count = bench.size(500, 20)
  await deployMany(bench, api, count)
  const middle = await atRest(bench, berthd)
  await deployMany(bench, api, count)
  const end = await atRest(bench, berthd)
  const grown = `deploy ${count} to ${2 * count}`
  return [
    figure('idle, resident', idle.resident, 'MB', { atMost: 90 }),
    figure('idle, heap', idle.used, 'MB'),
    figure(`heap growth, ${grown}`, end.used - middle.used, 'MB', { atMost: meantToGrowMb }),
    figure(`resident growth, ${grown}`, end.resident - middle.resident, 'MB'),
    figure(`after ${2 * count} deploys, resident`, end.resident, 'MB'),
    figure(`after ${2 * count} deploys, heap`, end.used, 'MB'),
  ]
}

/** After a pause: only an idle process returns memory, after about a minute. */
async function atRest(bench: Bench, berthd: Berthd): Promise<Moment> {
  await sleep(bench.size(120_000, 500))
  const status = readFileSync(`/proc/${berthd.pid}/status`, 'utf8')
  const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1024
  return { resident, used: await berthd.usedMegabytes() }
}

function kindOf(index: number): Kind {
  if (index % 10 === 0) return 'restart'
  return index % 3 === 0 ? 'cancel' : 'fail'
}

const nameOf = (kind: Kind, worker: number) => `${kind}-${worker}`

/** For each worker, a live service and one with an empty repository. */
async function createServices(bench: Bench, api: Api): Promise<void> {
  const whole = createRepository(bench, { name: 'whole' })
  whole.commit('First', await pageApp('one'))
  const empty = createRepository(bench, { name: 'empty' })
  for (let worker = 0; worker < workers; worker++) {
    const create = (kind: Kind, more: object) =>
      api.post('/services', { name: nameOf(kind, worker), type: 'web_service', drain_seconds: 0, ...more })
    await create('fail', { repo_url: empty.directory, deploy: false })
    await create('cancel', { repo_url: whole.directory, deploy: false })
    const { latest_deploy } = await create('restart', { repo_url: whole.directory })
    const { status, error } = await finishedDeploy(api, latest_deploy.id)
    if (status !== 'live') throw new Error(`a deploy is ${status}: ${error}`)
  }
}

async function deployMany(bench: Bench, api: Api, count: number): Promise<void> {
  bench.log(`${count} deploys`)
  let next = 0
  async function work(worker: number): Promise<void> {
    while (next < count) await deployOne(api, kindOf(next++), worker)
  }
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
}

async function deployOne(api: Api, kind: Kind, worker: number): Promise<void> {
  const service = `/services/${nameOf(kind, worker)}`
  const { id } = await api.post(kind === 'restart' ? `${service}/restart` : `${service}/deploys`)
  if (kind === 'cancel') await api.post(`/deploys/${id}/cancel`)
  const { status } = await finishedDeploy(api, id)
  const expected = { restart: ['live', 'deactivated'], cancel: ['canceled'], fail: ['failed'] }[kind]
  if (!expected.includes(status)) throw new Error(`a deploy to ${kind} is ${status}`)
}

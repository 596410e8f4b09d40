// The duration of a restart, from the request until the new instance is live, compared with `docker run` of
// the same image until its first response.
import type { Api } from '../support/daemon/api.ts'
import { finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd } from './berthd.ts'
import { removeContainer, runContainer } from './container-run.ts'
import { type Figure, figure } from './figure.ts'
import { type LiveMoments, watchLiveMoments } from './live-moments.ts'
import { median } from './percentiles.ts'

interface Round {
  restartMs: number
  dockerRunMs: number
  phases: Record<string, number>
}

interface Setting {
  api: Api
  moments: LiveMoments
  image: string
  network: string
  /** The address of the container that Docker runs alone. */
  container: string
}

const service = 'bench'
const healthPath = '/healthz'

export async function measureDeploy(bench: Bench): Promise<Figure[]> {
  const setting = await prepare(bench)
  const rounds: Round[] = []
  for (let round = 0; round <= bench.size(11, 1); round++) {
    bench.log(round === 0 ? 'warming up' : `round ${round}`)
    rounds.push({ ...(await restart(setting)), dockerRunMs: await runAlone(setting, round) })
  }
  return toFigures(rounds.slice(1))
}

/** A live service with one small page and a built image. */
async function prepare(bench: Bench): Promise<Setting> {
  const berthd = await startBerthd(bench, temporaryDirectory(bench))
  const { api } = berthd
  const repository = createRepository(bench)
  repository.commit('First', await pageApp('one'))
  const created = await api.post('/services', {
    name: service,
    type: 'web_service',
    repo_url: repository.directory,
    drain_seconds: 0,
    health_check_path: healthPath,
  })
  const first = await finishedDeploy(api, created.latest_deploy.id)
  if (first.status !== 'live') throw new Error(`the first deploy is ${first.status}: ${first.error}`)
  const container = `${berthd.prefix}-run`
  // An interrupt must not leave the container in the network, which then could not be removed.
  bench.after(() => removeContainer(container))
  const moments = watchLiveMoments(bench, api)
  return { api, moments, image: first.image, network: berthd.prefix, container }
}

async function restart({ api, moments }: Setting): Promise<Pick<Round, 'restartMs' | 'phases'>> {
  const { live_deploy_id: former } = await api.get(`/services/${service}`)
  const askedAt = performance.now()
  const { id } = await api.post(`/services/${service}/restart`)
  const restartMs = (await moments.liveAt(id)) - askedAt
  const phases = phasesOf(await api.get(`/deploys/${id}/history`))
  await until('the former instance to be gone', async () =>
    hasEnded(await api.get(`/deploys/${former}/history`)),
  )
  return { restartMs, phases }
}

interface Entry {
  at: string
  state: string
}

/** The duration of each state, up to live. */
export function phasesOf(history: Entry[]): Record<string, number> {
  const lasted = history.slice(0, -1).map(({ at, state }, index) => {
    const name = state.replace('running.', '')
    return [name, Date.parse(history[index + 1]!.at) - Date.parse(at)]
  })
  return Object.fromEntries(lasted)
}

function hasEnded(history: Entry[]): boolean {
  return history.at(-1)!.state === 'deactivated'
}

async function runAlone({ api, image, network, container }: Setting, round: number): Promise<number> {
  const { instances } = await api.get(`/services/${service}/status`)
  const [a, b] = instances[0].address.split('.')
  // Beyond the addresses that Berth allocates in this run.
  const address = `${a}.${b}.250.${round + 1}`
  return runContainer({ image, address, network, name: container, path: healthPath })
}

function toFigures(rounds: Round[]): Figure[] {
  const restarts = rounds.map(({ restartMs }) => restartMs)
  const alone = rounds.map(({ dockerRunMs }) => dockerRunMs)
  const excess = rounds.map(({ restartMs, dockerRunMs }) => restartMs - dockerRunMs)
  const phaseOf = (phase: string) => median(rounds.map(({ phases }) => phases[phase] ?? 0))
  return [
    figure('restart, in excess of docker run', median(excess), 'ms', { atMost: 300 }),
    figure('restart, from the request until live', median(restarts), 'ms'),
    figure('docker run until the first response', median(alone), 'ms'),
    ...Object.keys(rounds[0]!.phases).map((phase) => figure(`restart, ${phase}`, phaseOf(phase), 'ms')),
  ]
}

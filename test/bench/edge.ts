// The CPU cost of a request through the edge, compared with a hand-configured HAProxy of the same version,
// and the time until a new version responds through it, compared with `docker run`.
import { setTimeout as sleep } from 'node:timers/promises'
import { openEdgeFiles } from '../../src/edge/files.ts'
import { openRuntime, readWorkers } from '../../src/edge/runtime.ts'
import type { Api } from '../support/daemon/api.ts'
import { dockerfile, finishedDeploy, until } from '../support/daemon/service.ts'
import { siteServerImage } from '../support/docker/server-images.ts'
import { edgeArgs, endHostEdge, portOf } from '../support/edge/edge.ts'
import { requestAt } from '../support/edge/running-edge.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import type { Bench } from './bench.ts'
import { startBerthd } from './berthd.ts'
import { removeContainer, runContainer } from './container-run.ts'
import { type Figure, figure, median, percentile } from './figure.ts'
import { measureLatencies, requestsPerCpuSecond, type Target } from './load.ts'
import { startPlainProxy } from './plain-proxy.ts'

interface Setting {
  api: Api
  edge: Target
  plain: Target
  port: number
  image: string
  network: string
  container: string
}

type Which = 'edge' | 'plain'

interface ProxyRound {
  perCpuSecond: number
  latenciesMs: number[]
}

const service = 'bench'
/** A page that nginx serves from memory, because the proxy is measured. */
const page = 'page'
const healthPath = '/healthz'

export async function measureEdge(bench: Bench): Promise<Figure[]> {
  const setting = await prepare(bench)
  const rounds: Record<Which, ProxyRound>[] = []
  for (let round = 0; round <= bench.size(9, 1); round++) {
    bench.log(round === 0 ? 'requests, warming up' : `requests, round ${round}`)
    const seconds = bench.size(3, 1)
    rounds.push({
      edge: await measureProxy(setting.edge, seconds),
      plain: await measureProxy(setting.plain, seconds),
    })
  }
  const starts: { edgeMs: number; dockerRunMs: number }[] = []
  for (let round = 0; round <= bench.size(9, 1); round++) {
    bench.log(round === 0 ? 'versions, warming up' : `version ${round}`)
    starts.push({ edgeMs: await replace(setting), dockerRunMs: await runAlone(setting, round) })
  }
  return [...proxyFigures(rounds.slice(1)), ...startFigures(starts.slice(1))]
}

/** Latencies first, so that work left by the load does not affect them. */
async function measureProxy(target: Target, seconds: number): Promise<ProxyRound> {
  const latenciesMs = await measureLatencies(target, seconds)
  return { latenciesMs, perCpuSecond: await requestsPerCpuSecond(target, '/', seconds) }
}

async function prepare(bench: Bench): Promise<Setting> {
  const directory = temporaryDirectory(bench)
  const args = [...(await edgeArgs('host')), `--static-image=${await siteServerImage()}`]
  const berthd = await startBerthd(bench, directory, { args })
  bench.after(() => endHostEdge(directory))
  const { api } = berthd
  const { image } = await deployed(bench, api, service, await sayingApp(), {
    type: 'web_service',
    health_check_path: healthPath,
  })
  const { address } = await deployed(bench, api, page, { 'index.html': 'hello' }, { type: 'static_site' })
  const container = `${berthd.prefix}-run`
  bench.after(() => removeContainer(container))
  const master = openRuntime(openEdgeFiles(directory).masterSocket)
  const { current } = await readWorkers(master)
  const port = portOf(args, '--http-port')
  const host = `${page}.localhost`
  const edge = { url: `http://127.0.0.1:${port}`, headers: { host }, pid: current! }
  const plain = await startPlainProxy(bench, { host, upstream: address })
  return { api, edge, plain, port, image, network: berthd.prefix, container }
}

async function deployed(
  bench: Bench,
  api: Api,
  name: string,
  files: Record<string, string>,
  settings: object,
): Promise<{ image: string; address: string }> {
  const repository = createRepository(bench)
  repository.commit('First', files)
  const wanted = { name, repo_url: repository.directory, drain_seconds: 0, ...settings }
  const service = await api.post('/services', wanted)
  const { status, error, image } = await finishedDeploy(api, service.latest_deploy.id)
  if (status !== 'live') throw new Error(`the first deploy of ${name} is ${status}: ${error}`)
  const { instances } = await api.get(`/services/${name}/status`)
  return { image, address: instances[0].address }
}

/** Responds with its deploy's id, and with anything else from memory. */
async function sayingApp(): Promise<Record<string, string>> {
  const start = 'mkdir -p /www && echo ok > /www/healthz && echo $BERTH_DEPLOY_ID > /www/index.html'
  return { Dockerfile: await dockerfile(`CMD ["sh", "-c", "${start} && exec httpd -f -p $PORT -h /www"]`) }
}

/** From the request of a restart to the new instance's first response through the edge. */
async function replace({ api, port }: Setting): Promise<number> {
  const { live_deploy_id: former } = await api.get(`/services/${service}`)
  const ask = requestAt(port)
  const askedAt = performance.now()
  const { id } = await api.post(`/services/${service}/restart`)
  while ((await ask(`${service}.localhost`)).body.trim() !== id) await sleep(5)
  const tookMs = performance.now() - askedAt
  await until('the former instance to be gone', async () => {
    const deploy = await api.get(`/deploys/${former}/history`)
    return deploy.at(-1).state === 'deactivated'
  })
  return tookMs
}

async function runAlone({ api, image, network, container }: Setting, round: number): Promise<number> {
  const { instances } = await api.get(`/services/${service}/status`)
  const [a, b] = instances[0].address.split('.')
  // Beyond the addresses that Berth allocates in this run.
  const address = `${a}.${b}.250.${round + 1}`
  return runContainer({ image, address, network, name: container, path: healthPath })
}

function proxyFigures(rounds: Record<Which, ProxyRound>[]): Figure[] {
  // Ratios are taken within each round, because the machine's speed changes between rounds.
  const cost = median(rounds.map(({ edge, plain }) => edge.perCpuSecond / plain.perCpuSecond))
  const paceOf = (which: Which) => median(rounds.map((round) => round[which].perCpuSecond))
  // Over all rounds, because a tail needs many samples.
  const p99Of = (which: Which) => {
    const latencies = rounds.flatMap((round) => round[which].latenciesMs)
    return percentile(latencies, 99)
  }
  return [
    figure('requests per CPU second, relative to HAProxy', cost, '', { atLeast: 0.95 }),
    figure('request p99 at 1,000/s, relative to HAProxy', p99Of('edge') / p99Of('plain'), '', {
      atMost: 1.05,
    }),
    figure('requests per CPU second, edge', paceOf('edge'), '/s'),
    figure('requests per CPU second, HAProxy alone', paceOf('plain'), '/s'),
    figure('request p99 at 1,000/s, edge', p99Of('edge'), 'ms'),
    figure('request p99 at 1,000/s, HAProxy alone', p99Of('plain'), 'ms'),
  ]
}

function startFigures(rounds: { edgeMs: number; dockerRunMs: number }[]): Figure[] {
  const excess = rounds.map(({ edgeMs, dockerRunMs }) => edgeMs - dockerRunMs)
  return [
    figure('new version until it serves, in excess of docker run', median(excess), 'ms', { atMost: 300 }),
    figure('new version until it serves', median(rounds.map(({ edgeMs }) => edgeMs)), 'ms'),
    figure('docker run until the first response', median(rounds.map(({ dockerRunMs }) => dockerRunMs)), 'ms'),
  ]
}

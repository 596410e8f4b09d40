// The environment of the demo: a Docker engine, the base image, a daemon, a repository. The last two are
// removed at the end.
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyApp } from '../support/daemon/apps.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { until } from '../support/daemon/service.ts'
import { ensureDashboard } from '../support/dashboard/build.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { requestEngine } from '../support/docker/engine-request.ts'
import { baseImages } from '../support/docker/images.ts'
import { edgeArgs } from '../support/edge/edge.ts'
import { createRepository } from '../support/git/repository.ts'
import { hasCommand } from '../support/system/command.ts'
import { type Stage, takeStep } from './stage.ts'
import { Trouble } from './trouble.ts'

export interface DemoRepository {
  directory: string
  /** Writes this version of the app and commits it. */
  commit(version: string): Promise<void>
}

export interface Setting {
  daemon: TestDaemon
  repository: DemoRepository
  /** The configuration directory of `berth`, separate from the user's. */
  configFolder: string
}

const again = 'run it again: npm run demo'
const noGit = () =>
  new Trouble('the example repository could not be created', 'git is not installed', 'apt-get install git')

export async function prepareSetting(stage: Stage): Promise<Setting> {
  await findEngine(stage)
  const image = await findImage(stage)
  await makeDashboard(stage)
  const folder = makeFolder(stage)
  const daemon = await startDaemon(stage)
  await awaitEdge(stage, daemon)
  const repository = await makeRepository(stage, folder, image)
  return { daemon, repository, configFolder: join(folder, 'config') }
}

function findEngine(stage: Stage): Promise<{ address: string; version: string }> {
  return takeStep(stage, {
    name: 'engine',
    isTalkative: true,
    async work() {
      if (!hasCommand('git')) throw noGit()
      const address = await ensureEngine()
      const response = await requestEngine(address, '/version')
      return { address, version: JSON.parse(response.text).Version }
    },
    detail: ({ address, version }) => `Docker ${version} at ${address}`,
    trouble: { what: 'no Docker engine is available', next: again },
  })
}

function findImage(stage: Stage): Promise<string> {
  return takeStep(stage, {
    name: 'image',
    isTalkative: true,
    work: async () => (await baseImages()).node,
    detail: (image) => image,
    trouble: { what: 'the base image of the example app could not be created', next: again },
  })
}

function makeDashboard(stage: Stage): Promise<void> {
  return takeStep(stage, {
    name: 'dashboard',
    work: ensureDashboard,
    detail: () => 'is built',
    trouble: { what: 'the dashboard could not be built', next: again },
  })
}

// All temporary folders are created below this one, so that none is left behind. The daemon keeps the default
// directory, which has the cache of its compiler.
function makeFolder({ made }: Stage): string {
  made.folder = mkdtempSync(join(tmpdir(), 'berth-demo-'))
  chmodSync(made.folder, 0o700)
  return made.folder
}

function startDaemon(stage: Stage): Promise<TestDaemon> {
  const usual = tmpdir()
  return takeStep(stage, {
    name: 'daemon',
    async work() {
      process.env.TMPDIR = stage.made.folder!
      // Other ports, because the default ones may be in use.
      const args = [...(await edgeArgs()), '--settle-time=2']
      stage.made.daemon = launchDaemon({ args, env: { TMPDIR: usual } })
      const daemon = await stage.made.daemon
      stage.made.pid = daemon.pid
      return daemon
    },
    detail: ({ api, prefix }) => `${api.url}, prefix ${prefix}`,
    trouble: { what: 'the daemon did not start', next: again },
  })
}

function awaitEdge(stage: Stage, { api }: TestDaemon): Promise<{ http_port: number }> {
  return takeStep(stage, {
    name: 'edge',
    work: () =>
      until('the edge to serve', async () => {
        const edge = await api.get('/edge')
        return edge.status === 'serving' && edge
      }),
    detail: ({ http_port }) => `http://<service>.localhost:${http_port}`,
    trouble: { what: 'the edge, which routes requests, did not start', next: again },
  })
}

function makeRepository(stage: Stage, root: string, node: string): Promise<DemoRepository> {
  return takeStep(stage, {
    name: 'repository',
    async work() {
      const { directory, commit } = createRepository({ after: () => undefined }, { root, name: 'hello' })
      const repository = {
        directory,
        async commit(version: string) {
          await copyApp('hello', directory, { node, version })
          commit(`Say ${version}`, {})
        },
      }
      await repository.commit('v1')
      return repository
    },
    detail: ({ directory }) => directory,
    trouble: { what: 'the example repository could not be created', next: again },
  })
}

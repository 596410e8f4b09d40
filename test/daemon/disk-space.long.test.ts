// A disk that fills up during a write: the writer is canceled with a reason, its data is removed, and
// services continue. The data directory and a private Docker engine are on small file systems in a namespace.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statfsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, test } from 'node:test'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { createWorker } from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { dockerfile, finishedDeploy, until } from '../support/daemon/service.ts'
import type { TestService } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { busyboxImage } from '../support/docker/images.ts'
import { loadImage, saveImage, startNamespaceEngine } from '../support/docker/namespace-engine.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'
import { isInside, openNetwork, runInside, whyNoNamespace } from '../support/system/namespace.ts'
import { fillDisk, smallBlockDisk } from '../support/system/small-disk.ts'

const scope = fileScope()
const neededMb = 128
const mebibyte = 1024 * 1024

function outside(impossible: string | null): void {
  test('a build, fetch or upload that fills the disk is canceled, and new ones are refused with the reason', {
    skip: impossible ?? false,
  }, async (t) => {
    const directory = temporaryDirectory(scope)
    await saveImage(await ensureEngine(), await busyboxImage(), join(directory, 'busybox.tar'))
    const { code, lines } = await runInside(import.meta.url, { PREPARED: directory })
    for (const line of lines.filter((line) => /^ *(not )?ok |^ *# /.test(line))) t.diagnostic(line)
    assert.equal(code, 0, lines.join('\n'))
  })
}

interface Site {
  daemon: TestDaemon
  worker: TestService
  /** The engine's data directory. */
  engineDisk: string
  dataDisk: string
}

async function open(prepared: string): Promise<Site> {
  await openNetwork('10.99.0.1')
  const [engineDisk, dataDisk] = [smallBlockDisk(scope, 512), smallBlockDisk(scope, 320)]
  const directory = temporaryDirectory(scope)
  // This process holds its log open, which would prevent unmounting the disk.
  symlinkSync(engineDisk, join(directory, 'data'))
  const engine = await startNamespaceEngine(directory)
  scope.after(() => engine.stop())
  process.env.DOCKER_HOST = engine.address
  await loadImage(engine.address, join(prepared, 'busybox.tar'))
  const dataDir = join(dataDisk, 'data')
  const daemon = await launchDaemon({ dataDir, args: [`--min-free-disk=${neededMb}`] })
  scope.after(() => daemon.remove())
  return { daemon, engineDisk, dataDisk, worker: await createWorker(scope, daemon.api) }
}

const freeMb = (directory: string) => {
  const { bavail, bsize } = statfsSync(directory)
  return (bavail * bsize) / mebibyte
}

const canceled = (directory: string, what: string) =>
  new RegExp(
    `^canceled: ${directory}\\S* has \\d+ MiB free, ${what} needs ${neededMb} MiB \\(--min-free-disk\\)$`,
  )

const createIn = ({ daemon }: Site, name: string, settings: object) =>
  daemon.api.post('/services', { name, type: 'background_worker', ...settings })

const untilPhase = ({ daemon }: Site, id: string, phase: string) =>
  until(`the phase ${phase}`, async () => (await daemon.api.get(`/deploys/${id}`)).phase === phase)

/** The live version of another service is still the same process. */
async function readServing({ daemon, worker }: Site) {
  const { state, instances } = await daemon.api.get(`/services/${worker.name}/status`)
  return { state, running: instances.map((instance: { started_at: string }) => instance.started_at) }
}

async function inside(): Promise<void> {
  const site = await open(process.env.PREPARED!)
  const before = await readServing(site)
  assert.equal(before.state, 'live')
  afterEach(async () => assert.deepEqual(await readServing(site), before))
  tryDocker(site)
  tryData(site)
}

function tryDocker(site: Site): void {
  const { engineDisk, daemon } = site
  const { api } = daemon

  test('a build that writes too much is canceled, and its space is freed', async () => {
    const freeBefore = freeMb(engineDisk)
    const repository = createRepository(scope)
    const step = 'RUN for n in $(seq 1000); do dd if=/dev/zero of=/big.$n bs=1M count=8; sleep 0.2; done'
    // The first step's output is in the build cache when the second one is canceled.
    const first = 'RUN dd if=/dev/zero of=/first bs=1M count=64'
    repository.commit('Grows', { Dockerfile: await dockerfile(first, step) })
    const { latest_deploy } = await createIn(site, 'grows', { repo_url: repository.directory })

    const deploy = await finishedDeploy(api, latest_deploy.id)

    assert.deepEqual([deploy.status, deploy.phase], ['failed', 'building'])
    assert.match(deploy.error, canceled(engineDisk, 'a build'))
    await until('its space', async () => freeMb(engineDisk) > freeBefore - 16)
    const { disk_usage: usage } = await until('the disk usage', async () => {
      const info = await api.get('/info')
      return info.disk_usage?.docker && info
    })
    assert.ok(usage.docker.images_bytes > 0 && usage.data.store_bytes > 0, JSON.stringify(usage))
  })
}

function tryData(site: Site): void {
  const { dataDisk, daemon } = site
  const { api } = daemon

  long('a fetch is canceled when there is too little space, and leaves nothing', async () => {
    const server = await createGitServer(scope, { ...createRepository(scope), answer: () => 'hang' })
    const { latest_deploy } = await createIn(site, 'fetches', { repo_url: `${server.url}/app` })
    await untilPhase(site, latest_deploy.id, 'fetching')
    const empty = fillDisk(dataDisk, neededMb - 16)

    const deploy = await finishedDeploy(api, latest_deploy.id)
    empty()

    assert.deepEqual([deploy.status, deploy.phase], ['failed', 'fetching'])
    assert.match(deploy.error, canceled(dataDisk, 'a fetch'))
    await until('its cleanup', async () => !readdirSync(join(daemon.dataDir, 'work')).includes(deploy.id))
  })

  long('an upload is canceled when there is too little space, and leaves nothing', async () => {
    await createIn(site, 'uploads', {})
    const token = readFileSync(join(daemon.dataDir, 'api_token'), 'utf8').trim()
    const freeBefore = freeMb(dataDisk)
    const response = await fetch(`${api.url}/api/v1/services/uploads/deploys/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
      body: ReadableStream.from(slowGzip()),
      duplex: 'half',
    } as RequestInit)

    const problem = (await response.json()) as { code: string; detail: string }
    assert.deepEqual([response.status, problem.code], [507, 'insufficient_storage'])
    assert.match(problem.detail, canceled(dataDisk, 'an upload'))
    assert.deepEqual(readdirSync(join(daemon.dataDir, 'archives')), [])
    assert.ok(freeMb(dataDisk) > freeBefore - 16)
  })
}

/** Sends until the server stops reading; the upload itself has a limit. */
async function* slowGzip() {
  yield Buffer.from([0x1f, 0x8b])
  for (let count = 0; count < 250; count++) {
    yield Buffer.alloc(2 * mebibyte)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

if (isInside) await inside()
else outside(await whyNoNamespace())

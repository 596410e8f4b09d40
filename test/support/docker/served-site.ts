// A running site in nginx as the product configures it, shared by all tests of a file.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { type RequestOptions, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before } from 'node:test'
import { writeServerFiles } from '../../../src/builders/static-site/site-server.ts'
import { siteDockerfile } from '../../../src/builders/static-site/static-site.ts'
import { createBuildKit } from '../../../src/docker/build/build-kit.ts'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { imageName, ownerLabels } from '../../../src/docker/engine/names.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { writeTree } from '../archive/write-tree.ts'
import { unlimited } from './build-site.ts'
import { removeAll, testOwner, until } from './docker-site.ts'
import { ensureEngine } from './engine.ts'
import { nginxImage } from './server-images.ts'

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

interface ServedSite {
  readonly engine: Engine
  readonly containerId: string
  /** Requests the path byte for byte, without normalization or decoding. */
  ask(path: string, options?: Pick<RequestOptions, 'method' | 'headers'>): Promise<Answer>
  status(path: string): Promise<number>
}

interface SiteOptions {
  links?: Record<string, string>
  isSpa?: boolean
  port?: number
}

const folder = 'site'

/** Builds and starts it read-only before the file's tests, and removes it after them. */
export function servedSite(files: Record<string, string>, options: SiteOptions = {}): ServedSite {
  const { port = 8080 } = options
  const owner = testOwner()
  const place = { engine: null as Engine | null, containerId: '', address: '' }
  before(async () => {
    const engine = openEngine(await ensureEngine())
    place.engine = engine
    const image = imageName(owner, 'site', createIds().newId('dep'))
    await buildSite(engine, image, files, options)
    const container = await engine.docker.createContainer({
      Image: image,
      Labels: ownerLabels(owner),
      Env: port === 8080 ? ['SECRET=hunter2'] : [`PORT=${port}`],
      HostConfig: { ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges:true'] },
    })
    await container.start()
    place.containerId = container.id
    place.address = (await container.inspect()).NetworkSettings.Networks.bridge!.IPAddress
    await until('the server answers', () => site.status('/').catch(() => null))
  })
  after(async () => {
    if (!place.engine) return
    await removeAll(place.engine, owner.prefix)
    place.engine.close()
  })
  const site: ServedSite = {
    get engine() {
      return place.engine!
    },
    get containerId() {
      return place.containerId
    },
    ask: (path, requested = {}) => ask({ host: place.address, port, path, agent: false, ...requested }),
    status: async (path) => (await site.ask(path)).status,
  }
  return site
}

async function buildSite(engine: Engine, image: string, files: Record<string, string>, options: SiteOptions) {
  const server = { server: await nginxImage(), serverFolder: 'server' }
  const directory = mkdtempSync(join(tmpdir(), 'berth-test-'))
  try {
    const { links = {}, isSpa = false } = options
    const Dockerfile = siteDockerfile({ ...server, isSpa, from: null, folder, needsIndex: false })
    writeTree(directory, { Dockerfile })
    await writeServerFiles(join(directory, 'server'))
    writeTree(join(directory, folder), files)
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(directory, folder, path))
    await createBuildKit(engine, unlimited(testOwner())).build({
      contextDir: directory,
      dockerfile: 'Dockerfile',
      tag: image,
      labels: {},
      noCache: false,
      cacheNamespace: '',
      buildArgs: {},
      secrets: [],
      registries: [],
      onLine: () => {},
      signal: AbortSignal.timeout(120_000),
    })
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function ask(options: RequestOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const question = request(options)
    question.on('error', reject)
    question.on('response', (response) => {
      const { statusCode = 0, headers } = response
      buffer(response).then((body) => resolve({ status: statusCode, headers, body }), reject)
    })
    question.end()
  })
}

// A real image registry on a free local port: Debian's docker-registry, run from its unpacked package.
// Images are pushed without the engine, so that a later pull really transfers them.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer, text } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { cacheDirectory, choosePackages, PackagesMissing, readPackage } from '../debian/packages.ts'
import { createRootFilesystem } from '../debian/root-filesystem.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { withFileLock } from '../system/file-lock.ts'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'
import { ensureEngine } from './engine.ts'
import { baseImages } from './images.ts'

export interface TestRegistry {
  /** `127.0.0.1:<port>`, the prefix of its image names. */
  host: string
  /**
   * Publishes an image that serves `page` on `$PORT`, with changes such as `EXPOSE 8080`; returns its digest.
   * `name` is without the host: `app:v1`. Does not touch images of that name on the engine.
   */
  push(name: string, page: string, changes?: string[]): Promise<string>
  /** Pulls like a user: the engine then has the image under its name and digest. */
  pull(name: string): Promise<void>
  /** The engine's images of this registry or another host, with tag or digest, sorted. */
  namesOnEngine(host?: string): Promise<string[]>
  /** Listens on the same port as before. */
  start(): Promise<void>
  stop(): Promise<void>
}

interface Content {
  page: string
  changes: string[]
}

/** The account of a registry with credentials. */
export const account = { username: 'ada', password: 'canary-pass-r3g1stry' }
/** The account in htpasswd format (bcrypt, the only one that the registry accepts). */
const htpasswd = 'ada:$2y$05$abcdefghijklmnopqrstuub699haFKibrYYRVwHtbuyrCn/I7Z0.2\n'

const wish = { packages: ['docker-registry'], only: ['docker-registry'] }

/** Removed after the test, with every image of that name on the engine. */
export async function startRegistry(
  t: Scope,
  { isPrivate = false }: { isPrivate?: boolean } = {},
): Promise<TestRegistry> {
  const program = await findProgram()
  const engine = openEngine(await ensureEngine())
  const directory = temporaryDirectory(t)
  if (isPrivate) await writeFile(join(directory, 'htpasswd'), htpasswd)
  let running: ChildProcess | null = null
  let host = '127.0.0.1:0'
  const start = async () => {
    const path = join(directory, 'config.json')
    await writeFile(path, JSON.stringify(configOf(directory, host, isPrivate)))
    running = spawn(program, ['serve', path], { stdio: ['ignore', 'ignore', 'pipe'] })
    host = await addressOf(running)
  }
  const stop = async () => {
    if (running?.kill('SIGKILL')) await once(running, 'exit')
    running = null
  }
  t.after(async () => {
    await stop()
    await removeNames(engine, host)
    engine.close()
  })
  await start()
  return {
    host,
    push: (name, page, changes = []) => pushPage(engine, host, name, { page, changes }),
    async pull(name) {
      await text(await engine.docker.pull(`${host}/${name}`, isPrivate ? { authconfig: account } : {}))
    },
    namesOnEngine: (wanted = host) => listNames(engine, wanted),
    start,
    stop,
  }
}

/** The unpacked program, stored in the user's cache. */
async function findProgram(): Promise<string> {
  try {
    return await withFileLock(join(cacheDirectory, 'docker-registry.lock'), async () => {
      const files = await choosePackages(wish)
      const path = join(cacheDirectory, files[0]!.replace(/\.deb$/, ''))
      if (!existsSync(path)) await extractProgram(files, path)
      return path
    })
  } catch (error) {
    if (!(error instanceof PackagesMissing)) throw error
    throw new MissingPrerequisite(`There is no docker-registry to test pulls with: ${error.message}`)
  }
}

async function extractProgram(files: string[], path: string): Promise<void> {
  const root = createRootFilesystem()
  await root.unpack(await readPackage(files[0]!))
  await writeFile(`${path}.new`, root.read('usr/bin/docker-registry'))
  await chmod(`${path}.new`, 0o755)
  await rename(`${path}.new`, path)
}

/** Its configuration is YAML, of which JSON is a subset. */
function configOf(directory: string, host: string, isPrivate: boolean): object {
  const auth = { htpasswd: { realm: 'test', path: join(directory, 'htpasswd') } }
  return {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(directory, 'images') } },
    http: { addr: host, secret: 'test' },
    ...(isPrivate ? { auth } : {}),
  }
}

/** Resolves when it listens; rejects with its output if it exits instead. */
function addressOf(registry: ChildProcess): Promise<string> {
  const written: string[] = []
  return new Promise((resolve, reject) => {
    createInterface({ input: registry.stderr! }).on('line', (line) => {
      if (written.length < 50) written.push(line)
      const address = /listening on ([\d.:]+)/.exec(line)?.[1]
      if (address) resolve(address)
    })
    registry.once('error', reject)
    registry.once('exit', (code) => reject(new Error(`the registry ended (${code}): ${written.join('\n')}`)))
  })
}

// Pushes through the name `localhost`, so that the engine's images of this registry stay untouched. The image
// gets its tag when the engine no longer has it: else a pull of the tag could meet its removal.
async function pushPage(engine: Engine, host: string, name: string, content: Content): Promise<string> {
  const { docker } = engine
  const [repository, tag] = name.split(':') as [string, string]
  const repo = `${host.replace('127.0.0.1', 'localhost')}/${repository}`
  const id = randomBytes(16).toString('hex')
  const container = await docker.createContainer({ Image: (await baseImages()).busybox, Cmd: ['true'] })
  try {
    const files = pack()
    files.entry({ name: 'www/index.html' }, content.page)
    // A unique layer that no other image has.
    files.entry({ name: 'www/id' }, id)
    files.finalize()
    await container.putArchive(await buffer(files), { path: '/' })
    const serve = ['sh', '-c', 'trap "exit 0" TERM; httpd -f -p ${PORT} -h /www & wait']
    await container.commit({ repo, tag: id, changes: [`CMD ${JSON.stringify(serve)}`, ...content.changes] })
  } finally {
    await container.remove()
  }
  try {
    const response = await text(await docker.getImage(repo).push({ tag: id, authconfig: account }))
    if (!response.includes('"Digest"')) throw new Error(`${name} could not be pushed: ${response}`)
  } finally {
    await docker.getImage(`${repo}:${id}`).remove()
  }
  return copyTag(`http://${host}/v2/${repository}/manifests`, id, tag)
}

/** Returns the digest. */
async function copyTag(manifests: string, from: string, to: string): Promise<string> {
  const type = 'application/vnd.docker.distribution.manifest.v2+json'
  const authorization = `Basic ${btoa(`${account.username}:${account.password}`)}`
  const manifest = await fetch(`${manifests}/${from}`, { headers: { accept: type, authorization } })
  const headers = { 'content-type': type, authorization }
  const copy = await fetch(`${manifests}/${to}`, { method: 'PUT', headers, body: await manifest.text() })
  const digest = copy.headers.get('docker-content-digest')
  if (!digest) throw new Error(`the tag ${to} was not published: ${copy.status} ${await copy.text()}`)
  return digest
}

async function listNames({ docker }: Engine, host: string): Promise<string[]> {
  const images = await docker.listImages({ digests: true })
  const names = images.flatMap(({ RepoTags, RepoDigests }) => [...(RepoTags ?? []), ...(RepoDigests ?? [])])
  return names.filter((name) => name.startsWith(`${host}/`)).sort()
}

async function removeNames(engine: Engine, host: string): Promise<void> {
  for (const name of await listNames(engine, host)) {
    const removal = engine.docker.getImage(name).remove({ force: true })
    await removal.catch(() => undefined)
  }
}

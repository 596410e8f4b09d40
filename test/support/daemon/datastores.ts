// A daemon with datastores, and the real clients psql and redis-cli of the same images. A client is a
// process of the test in the files of a waiting container: the engine takes ten times as long to start one.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import Docker from 'dockerode'
import { datastoreImages } from '../docker/datastore-images.ts'
import { ensureEngine } from '../docker/engine.ts'
import { run } from '../system/command.ts'
import type { Scope } from '../system/directory.ts'
import type { Answer, Api, Body } from './api.ts'
import { type DaemonOptions, launchDaemon, type TestDaemon } from './daemon.ts'
import { until } from './service.ts'

export interface DatastoreSite {
  daemon: TestDaemon
  /** The options of another daemon with the same images. */
  imageArgs: string[]
  readonly api: Api
  docker: Docker
  /** Creates one and waits until it serves. */
  create(body: object): Promise<Body>
  /** Waits until it has this status. */
  reached(name: string, status: string): Promise<Body>
  /** Waits until this backup or restore has ended. */
  ended(kind: 'backups' | 'restores', id: string): Promise<Body>
  /** A new backup, which is good. */
  backUp(name: string): Promise<Body>
  /** The restore of that file, when it has ended. */
  restoreFile(name: string, content: Uint8Array | string): Promise<Body>
  uploadFile(name: string, content: Uint8Array | string): Promise<Answer>
  containerOf(name: string): Docker.Container
  /** Runs a shell command in its container and returns the output. */
  inside(containerId: string, script: string): Promise<string>
  /** Returns the client's output without its final line break. Rejects with the client's error output. */
  psql(url: string, sql: string): Promise<string>
  redis(url: string, ...words: string[]): Promise<string>
}

/** The newest versions of the test images. */
export const versions = { postgres: '15', redis: '7' } as const

export async function openDatastoreSite(scope: Scope, options: DaemonOptions = {}): Promise<DatastoreSite> {
  const images = await datastoreImages()
  const imageArgs = [`--postgres-image=${images.postgres}`, `--redis-image=${images.redis}`]
  const daemon = await launchDaemon({ ...options, args: [...imageArgs, ...(options.args ?? [])] })
  scope.after(() => daemon.remove())
  const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
  const clientOf = (kind: 'postgres' | 'redis') =>
    openClient(scope, docker, images[kind].replace('{version}', versions[kind]), daemon.prefix)
  const clients = { postgres: once(() => clientOf('postgres')), redis: once(() => clientOf('redis')) }
  const get = (name: string) => daemon.api.get(`/datastores/${name}`)
  return {
    daemon,
    imageArgs,
    docker,
    get api() {
      return daemon.api
    },
    async create(body) {
      const { kind } = body as { kind: 'postgres' | 'redis' }
      const made = await daemon.api.post('/datastores', { version: versions[kind], ...body })
      return made.status === 'available' ? made : reached(made.name, 'available')
    },
    reached,
    ended,
    async backUp(name) {
      const backup = await ended('backups', (await daemon.api.post(`/datastores/${name}/backups`)).id)
      assert.deepEqual([backup.status, backup.error], ['good', null])
      return backup
    },
    async restoreFile(name, content) {
      const { status, body } = await uploadFile(name, content)
      assert.equal(status, 202, JSON.stringify(body))
      return ended('restores', body.id)
    },
    uploadFile,
    containerOf: (name) => docker.getContainer(`${daemon.prefix}-datastore-${name}`),
    inside: (containerId, script) => execIn(docker.getContainer(containerId), ['sh', '-c', script]),
    psql: async (url, sql) =>
      runIn(await clients.postgres(), ['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', url, '-c', sql]),
    redis: async (url, ...words) =>
      runIn(await clients.redis(), ['redis-cli', '--no-auth-warning', '-u', url, ...words]),
  }

  function reached(name: string, status: string): Promise<Body> {
    return until(`${name} to be ${status}`, async () => {
      const found = await get(name)
      return found.status === status && found
    })
  }

  function ended(kind: 'backups' | 'restores', id: string): Promise<Body> {
    return until(`${id} to end`, async () => {
      const found = await daemon.api.get(`/${kind}/${id}`)
      return !['running', 'undoing'].includes(found.status) && found
    })
  }

  function uploadFile(name: string, content: Uint8Array | string) {
    const path = `/datastores/${name}/restores/upload`
    const headers = { 'content-type': 'application/octet-stream' }
    return daemon.api.call('POST', path, Buffer.from(content), headers)
  }
}

/** A container that waits for commands. It carries the daemon's prefix and is removed with it. */
async function openClient(scope: Scope, docker: Docker, image: string, prefix: string) {
  const client = await docker.createContainer({
    Image: image,
    Entrypoint: ['sleep', '3600'],
    HostConfig: { NetworkMode: 'host' },
    Labels: { 'berth.test': prefix },
  })
  scope.after(() => client.remove({ force: true, v: true }))
  await client.start()
  const { State, Config } = await client.inspect()
  return { pid: State.Pid, path: Config.Env.find((entry) => entry.startsWith('PATH='))! }
}

type Client = Awaited<ReturnType<typeof openClient>>

async function runIn({ pid, path }: Client, argv: string[]): Promise<string> {
  const enter = ['--target', String(pid), '--mount', '--', 'env', path]
  return (await run('nsenter', [...enter, ...argv])).trim()
}

async function execIn(container: Docker.Container, argv: string[]): Promise<string> {
  const exec = await container.exec({ Cmd: argv, AttachStdout: true, AttachStderr: true })
  const stream = await exec.start({})
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  container.modem.demuxStream(stream, stdout, stderr)
  stream.once('end', () => [stdout, stderr].forEach((each) => void each.end()))
  const [out, complaint] = await Promise.all([text(stdout), text(stderr)])
  const { ExitCode } = await exec.inspect()
  if (ExitCode !== 0) throw new Error(complaint || out)
  return out.trim()
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make()
    return made
  }
}

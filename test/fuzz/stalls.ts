// How long the daemon is silent while it gets the most hostile input of each kind, once, 40 and 1,000
// times at once.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { extended, packArchive, tarEnd, tarHeader } from '../support/archive/archive.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import type { Scope } from '../support/system/directory.ts'
import type { Shot } from './programs/sender.ts'

export interface Stall {
  kind: string
  count: number
  /** Of an answer to /healthz; null if there was none. */
  longestMs: number | null
}

interface Hostile {
  kind: string
  counts: number[]
  shot(count: number): Shot
}

const mebibyte = 1024 * 1024
const nested = (bytes: number) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)
const many = (bytes: number) => `[${'[],'.repeat(bytes / 3 - 2)}[]]`
const services = 8
/** What an input starts may go on after its answer. */
const afterMs = 3000

export async function measureStalls(scope: Scope, log: (line: string) => void): Promise<Stall[]> {
  const daemon = await launchDaemon()
  scope.after(() => daemon.remove())
  const kinds = await prepare(scope, daemon)
  const prober = startProgram(scope, 'prober', new URL('/healthz', daemon.api.url).href)
  // A process of its own: this one reads the log of the daemon, which waits for that.
  const sender = startProgram(scope, 'sender')
  const fire = async (shot: Shot) => {
    sender.send(shot)
    await once(sender, 'message')
  }
  const longest = async () => {
    prober.send('take')
    const [longestMs] = (await once(prober, 'message')) as [number | null]
    return longestMs
  }
  const stalls: Stall[] = []
  const note = (stall: Stall) => {
    stalls.push(stall)
    log(`${String(Math.round(stall.longestMs ?? -1)).padStart(6)} ms  ${stall.kind} × ${stall.count}`)
  }
  await delay(afterMs)
  await longest()
  await delay(afterMs)
  note({ kind: 'nothing', count: 1, longestMs: await longest() })
  for (const { kind, counts, shot } of kinds)
    for (const count of counts) {
      await fire(shot(count))
      await delay(afterMs)
      note({ kind, count, longestMs: await longest() })
    }
  return stalls
}

function startProgram(scope: Scope, name: string, ...args: string[]): ChildProcess {
  const file = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url))
  const program = fork(file, args, { serialization: 'advanced' })
  scope.after(() => void program.kill())
  return program
}

async function prepare(scope: Scope, { api, dataDir }: TestDaemon): Promise<Hostile[]> {
  const token = readFileSync(join(dataDir, 'api_token'), 'utf8').trim()
  const names = Array.from({ length: services }, (_, index) => `s${index}`)
  for (const name of names) await api.post('/services', { name, type: 'web_service', builder: 'recipe' })
  const bucket = await serveEndlessXml(scope)
  const place = { endpoint: bucket, region: 'us-east-1', bucket: 'shop', path_style: true }
  const key = { access_key_id: 'a', secret_access_key: 'b' }
  await api.call('PUT', '/backup-places/far', { ...place, ...key })
  const workspaces = [...Array(99).fill(`!${'/'.repeat(2590)}`), '**']
  const manifests = Array.from({ length: 9990 }, (_, index) => [`p${index}/package.json`, ''])
  const source = await packArchive({
    'package.json': JSON.stringify({ name: 'x', scripts: { start: 'node i.js' }, workspaces }),
    'i.js': '1',
    ...Object.fromEntries(manifests),
  })
  const fields = extended('x', `502 a=${'b'.repeat(495)}\n`.repeat(1000))
  const headers = gzipSync(
    Buffer.concat([
      ...Array(100)
        .fill([fields, tarHeader({ name: 'a' })])
        .flat(),
      tarEnd,
    ]),
  )
  const numbers = `{"paths":[${'0,'.repeat(8180)}0]}`
  const watched = '/services/s0/watch-paths/test'
  const patterns = `*[${'a-z'.repeat(168)}]z`
  const comparison = JSON.stringify({
    watch_paths: Array(100).fill(patterns),
    paths: Array(100).fill('A'.repeat(1000)),
  })
  const shots =
    (
      by: string | null,
      body: string | Buffer,
      pathOf: (index: number) => string,
      type = 'application/json',
    ) =>
    (count: number): Shot => ({
      urls: Array.from({ length: count }, (_, index) => new URL(`/api/v1${pathOf(index)}`, api.url).href),
      headers: { 'content-type': type, ...(by !== null && { authorization: `Bearer ${by}` }) },
      body,
    })
  const upload = (archive: Buffer) =>
    shots(token, archive, (index) => `/services/${names[index]}/deploys/upload`, 'application/gzip')
  const counts = [1, 40, 1000]
  const perService = [1, services]
  const large = nested(mebibyte)
  return [
    { kind: 'deploy hook, 1 MiB', counts, shot: shots(null, large, () => '/hooks/deploy/x') },
    { kind: 'login, 16 KiB', counts, shot: shots(null, nested(16 * 1024), () => '/auth/login') },
    { kind: 'delivery, 1 MiB', counts, shot: shots(null, large, () => '/hooks/github') },
    { kind: 'nested body, 1 MiB', counts, shot: shots(token, large, () => '/services') },
    { kind: 'body of lists, 1 MiB', counts, shot: shots(token, many(mebibyte), () => '/services') },
    { kind: 'watched paths', counts, shot: shots(token, comparison, () => watched) },
    { kind: 'paths that are numbers, 16 KiB', counts, shot: shots(token, numbers, () => watched) },
    { kind: 'headers of an archive, 50 MiB', counts: perService, shot: upload(headers) },
    { kind: 'workspaces of a source', counts: perService, shot: upload(source) },
    {
      kind: 'list of a bucket without an end',
      counts: [1, 40],
      shot: shots(token, '{}', () => '/backup-places/far/test'),
    },
  ]
}

async function serveEndlessXml(scope: Scope): Promise<string> {
  const piece = '<Contents><Key>a</Key></Contents>'.repeat(1000)
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' })
    const send = () => {
      while (!response.closed && response.write(piece));
    }
    response.on('drain', send).on('error', () => undefined)
    send()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// How long the daemon is silent while it gets the most hostile input of each kind, once, 40 and 1,000
// times at once.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { packArchive } from '../support/archive/archive.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import type { Scope } from '../support/system/directory.ts'

export interface Stall {
  kind: string
  count: number
  /** Of an answer to /healthz; null if there was none. */
  longestMs: number | null
}

interface Hostile {
  kind: string
  counts: number[]
  send(index: number): Promise<unknown>
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
  const prober = fork(fileURLToPath(new URL('programs/prober.ts', import.meta.url)), [
    new URL('/healthz', daemon.api.url).href,
  ])
  scope.after(() => void prober.kill())
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
  for (const { kind, counts, send } of kinds)
    for (const count of counts) {
      await Promise.all(Array.from({ length: count }, (_, index) => send(index).catch(() => undefined)))
      await delay(afterMs)
      note({ kind, count, longestMs: await longest() })
    }
  return stalls
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
  const patterns = `*[${'a-z'.repeat(168)}]z`
  const comparison = JSON.stringify({
    watch_paths: Array(100).fill(patterns),
    paths: Array(100).fill('A'.repeat(1000)),
  })
  const send = (path: string, body: string | Buffer, by: string | null, type = 'application/json') =>
    sendBody(new URL(`/api/v1${path}`, api.url), body, {
      'content-type': type,
      ...(by !== null && { authorization: `Bearer ${by}` }),
    })
  const counts = [1, 40, 1000]
  return [
    { kind: 'deploy hook, 1 MiB', counts, send: () => send('/hooks/deploy/x', nested(mebibyte), null) },
    { kind: 'login, 16 KiB', counts, send: () => send('/auth/login', nested(16 * 1024), null) },
    { kind: 'delivery, 1 MiB', counts, send: () => send('/hooks/github', nested(mebibyte), null) },
    { kind: 'nested body, 1 MiB', counts, send: () => send('/services', nested(mebibyte), token) },
    { kind: 'body of lists, 1 MiB', counts, send: () => send('/services', many(mebibyte), token) },
    {
      kind: 'watched paths',
      counts,
      send: () => send('/services/s0/watch-paths/test', comparison, token),
    },
    {
      kind: 'workspaces of a source',
      counts: [1, services],
      send: (index) => send(`/services/${names[index]}/deploys/upload`, source, token, 'application/gzip'),
    },
    {
      kind: 'list of a bucket without an end',
      counts: [1, 40],
      send: () => send('/backup-places/far/test', '{}', token),
    },
  ]
}

function sendBody(url: URL, body: string | Buffer, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    request(url, { method: 'POST', agent: false, headers: { ...headers, ...length } }, (response) => {
      response.resume().once('close', resolve)
    })
      .once('error', reject)
      .end(body)
  })
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

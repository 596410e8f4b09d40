// HAProxy's runtime socket: one command per connection, with limits, and its response as text. An error is
// text like any other response, so the caller decides which responses are expected.

import { X509Certificate } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { sleep } from '../async/sleep.ts'
import { Failure } from '../errors.ts'
import type { EdgeFiles } from './files.ts'
import { type MapName, mapNames } from './routes.ts'

export interface Runtime {
  /** Throws `edge_unavailable` without a response. */
  ask(command: string): Promise<string>
  /** Like `ask`, for commands that change something. Throws `edge_refused` for an unexpected response. */
  change(command: string, expected?: RegExp): Promise<void>
  /** An endless response, until the other side closes or `signal` is aborted. Yields batches of lines. */
  lines(command: string, signal: AbortSignal): AsyncGenerator<string[]>
}

const answerMs = 5_000
/** The batch size in characters: a full batch means that there is more. */
const manyAtOnce = 32 * 1024
export const restMs = 250
/** The responses of HAProxy to successful commands. */
const fine = new RegExp(
  [
    '^\\s*$',
    'no need to change',
    'changed (from|through)',
    'New server registered',
    'New empty certificate store',
    'Transaction (created|updated)',
    'Success!',
  ].join('|'),
)

export function openRuntime(path: string): Runtime {
  async function ask(command: string): Promise<string> {
    const socket = connect(path)
    socket.setTimeout(answerMs, () => socket.destroy(new Error('no response in time')))
    // The master waits for more commands until the sending side is closed.
    socket.end(`${command}\n`)
    try {
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    } catch (error) {
      throw unavailable(error)
    }
  }

  return {
    ask,
    async change(command, expected = fine) {
      const response = await ask(command)
      if (response.split('\n').every((line) => line === '' || fine.test(line) || expected.test(line))) return
      const [what = ''] = command.split('\n')
      throw new Failure('edge_refused', `HAProxy refused '${what}': ${response.trim()}`)
    },
    async *lines(command, signal) {
      // An earlier abort does not call the listener.
      if (signal.aborted) return
      const socket = connect(path)
      const end = () => socket.destroy()
      signal.addEventListener('abort', end)
      socket.write(`${command}\n`)
      try {
        yield* linesOf(socket, signal)
      } catch (error) {
        if (!signal.aborted) throw unavailable(error)
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    },
  }
}

/** To a reader that is up to date HAProxy sends each line alone, which costs more than the line itself. */
async function* linesOf(socket: Socket, signal: AbortSignal): AsyncGenerator<string[]> {
  let text = ''
  socket.setEncoding('utf8')
  for await (const chunk of socket as AsyncIterable<string>) {
    const lines = (text + chunk).split('\n')
    text = lines.pop()!
    yield lines
    if (chunk.length < manyAtOnce) await sleep(restMs, signal).catch(() => undefined)
  }
}

function unavailable(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error)
  return new Failure('edge_unavailable', `HAProxy does not respond: ${reason}`)
}

// Reads the complete state of HAProxy. After a start of either side nothing else is reliable.

export interface ServerState {
  address: string
  port: number
  weight: number
  isOpen: boolean
}

export interface RuntimeState {
  /** Servers by name, such as `p1/s2`. */
  servers: Map<string, ServerState>
  maps: Record<MapName, Map<string, string>>
  /** Fingerprints of installed certificates, by file name without extension. */
  certificates: Map<string, string>
}

export async function readRuntimeState(runtime: Runtime, files: EdgeFiles): Promise<RuntimeState> {
  const maps = {} as RuntimeState['maps']
  for (const name of mapNames) maps[name] = parseMap(await runtime.ask(`show map ${files.map(name)}`))
  return {
    servers: parseServers(await runtime.ask('show servers state')),
    maps,
    certificates: await readCertificates(runtime, files),
  }
}

/** The administrative state bits of a server that was disabled by a command. */
const forcedMaintenance = 0x01

function parseServers(text: string): RuntimeState['servers'] {
  const servers: RuntimeState['servers'] = new Map()
  for (const line of text.split('\n')) {
    const fields = line.split(' ')
    const [, pool, , name, address, state, admin, weight] = fields
    const port = fields[18]
    if (!pool || !/^p\d+$/.test(pool) || !name || !address || !port) continue
    const isOpen = state !== '0' && (Number(admin) & forcedMaintenance) === 0
    servers.set(`${pool}/${name}`, { address, port: Number(port), weight: Number(weight), isOpen })
  }
  return servers
}

function parseMap(text: string): Map<string, string> {
  const entries = text.split('\n').map((line) => /^0x[0-9a-f]+ (\S+) (.*)$/.exec(line))
  return new Map(entries.filter((entry) => entry !== null).map(([, key, value]) => [key!, value!]))
}

async function readCertificates(runtime: Runtime, files: EdgeFiles): Promise<RuntimeState['certificates']> {
  const found: RuntimeState['certificates'] = new Map()
  const list = await runtime.ask(`show ssl crt-list ${files.certificateList}`)
  for (const line of list.split('\n')) {
    const [, name] = /\/([^/]+)\.pem(?::\d+)?\s*$/.exec(line) ?? []
    if (!name || name === 'default') continue
    const output = await runtime.ask(`show ssl cert ${files.certificate(name)}`)
    found.set(name, /^SHA1 FingerPrint: ([0-9A-F]+)$/m.exec(output)?.[1] ?? '')
  }
  return found
}

/** In HAProxy's format. Cached, because every comparison needs it. */
export function fingerprintOfPem(pem: string): string {
  const known = fingerprints.get(pem)
  if (known !== undefined) return known
  const fingerprint = new X509Certificate(pem).fingerprint.replaceAll(':', '')
  if (fingerprints.size > maxFingerprints) fingerprints.clear()
  fingerprints.set(pem, fingerprint)
  return fingerprint
}

const fingerprints = new Map<string, string>()
const maxFingerprints = 5000

// The processes of the edge: the master, the serving worker, and older workers that finish open requests.
// After a reload the runtime socket reaches only the new worker; older ones are reached through the master.

interface Workers {
  current: number | null
  /** Workers from before a reload that still have open connections. */
  old: number[]
}

export async function readWorkers(master: Runtime): Promise<Workers> {
  return parseWorkers(await master.ask('show proc'))
}

function parseWorkers(text: string): Workers {
  const [now = '', before = ''] = text.split('# old workers')
  const pids = (part: string) => [...part.matchAll(/^(\d+)\s+worker\s/gm)].map(([, pid]) => Number(pid))
  return { current: pids(now)[0] ?? null, old: pids(before) }
}

/** Open requests at each server of a pool, by slot (`s1`), over all workers. */
export async function countOpen(admin: Runtime, master: Runtime, pool: string): Promise<Map<string, number>> {
  const question = `show stat ${pool} 4 -1`
  const { old } = await readWorkers(master)
  const responses = [await admin.ask(question)]
  for (const pid of old) responses.push(await master.ask(`@!${pid} ${question}`).catch(() => ''))
  const open = new Map<string, number>()
  for (const { name, count } of responses.flatMap(parseOpen)) open.set(name, (open.get(name) ?? 0) + count)
  return open
}

/** The second column is the server, the fifth its number of requests. */
function parseOpen(text: string): { name: string; count: number }[] {
  const rows = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return rows.map((row) => row.split(',')).map(([, name = '', , , count]) => ({ name, count: Number(count) }))
}

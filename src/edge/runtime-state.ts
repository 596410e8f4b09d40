// Reads the complete state of HAProxy. After a start of either side nothing else is reliable.
import { X509Certificate } from 'node:crypto'
import type { EdgeFiles } from './files.ts'
import { type MapName, mapNames } from './routes.ts'
import type { Runtime } from './runtime.ts'

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

export function parseServers(text: string): RuntimeState['servers'] {
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

/** Each line is `0x… key value`. */
export function parseMap(text: string): Map<string, string> {
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

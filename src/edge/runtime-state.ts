// What HAProxy says it has, read whole: after a start of either side nothing else is believed.
import { X509Certificate } from 'node:crypto'
import type { Place } from './files.ts'
import { type MapName, mapNames } from './routes.ts'
import type { Runtime } from './runtime.ts'

export interface FoundServer {
  address: string
  port: number
  weight: number
  isOpen: boolean
}

export interface Found {
  /** By `p1/s2`. */
  servers: Map<string, FoundServer>
  maps: Record<MapName, Map<string, string>>
  /** Name of the file, without its ending, to the fingerprint of what it has. */
  certificates: Map<string, string>
}

export async function readFound(runtime: Runtime, place: Place): Promise<Found> {
  const maps = {} as Found['maps']
  for (const name of mapNames) maps[name] = parseMap(await runtime.ask(`show map ${place.map(name)}`))
  return {
    servers: parseServers(await runtime.ask('show servers state')),
    maps,
    certificates: await readCertificates(runtime, place),
  }
}

/** The bits of the administrative state by which a person, and so we, took it out of service. */
const forcedMaintenance = 0x01

export function parseServers(text: string): Found['servers'] {
  const servers: Found['servers'] = new Map()
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

async function readCertificates(runtime: Runtime, place: Place): Promise<Found['certificates']> {
  const found: Found['certificates'] = new Map()
  const list = await runtime.ask(`show ssl crt-list ${place.certificateList}`)
  for (const line of list.split('\n')) {
    const [, name] = /\/([^/]+)\.pem(?::\d+)?\s*$/.exec(line) ?? []
    if (!name || name === 'default') continue
    const shown = await runtime.ask(`show ssl cert ${place.certificate(name)}`)
    found.set(name, /^SHA1 FingerPrint: ([0-9A-F]+)$/m.exec(shown)?.[1] ?? '')
  }
  return found
}

/** As HAProxy shows it. Parsed once: it is asked for at every comparison. */
export function fingerprintOfPem(pem: string): string {
  const known = fingerprints.get(pem)
  if (known !== undefined) return known
  const fingerprint = new X509Certificate(pem).fingerprint.replaceAll(':', '')
  if (fingerprints.size > mostFingerprints) fingerprints.clear()
  fingerprints.set(pem, fingerprint)
  return fingerprint
}

const fingerprints = new Map<string, string>()
const mostFingerprints = 5000

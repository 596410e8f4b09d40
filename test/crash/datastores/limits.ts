// The containers of datastores, and their effective limits: those of the container, and Redis' own setting.
import { setTimeout as sleep } from 'node:timers/promises'
import type Docker from 'dockerode'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import { runClient } from './line-client.ts'
import { type Book, type DatastoreEntry, living } from './users.ts'

export interface Site {
  docker: Docker
  prefix: string
  /** Has the files of the clients. */
  directory: string
}

const limitMs = 60_000
/** The daemon's defaults. */
const defaults = { memoryMb: 512, cpus: 1 }

function inspect({ docker, prefix }: Site, { name }: DatastoreEntry) {
  return docker.getContainer(`${prefix}-datastore-${name}`).inspect()
}

/** The address at which other containers of its network reach it. */
export async function networkUrl(site: Site, entry: DatastoreEntry): Promise<string> {
  const { NetworkSettings } = await inspect(site, entry)
  const [network] = Object.values(NetworkSettings.Networks)
  const url: string = entry.answer.internal_url
  return url.replace(`@${entry.name}:`, `@${network!.IPAddress}:`)
}

/** The difference from the acknowledged limits, or null. */
async function findMismatch(site: Site, entry: DatastoreEntry): Promise<string | null> {
  const { kind, name, wanted } = entry
  const { NCPU } = await site.docker.info()
  const { HostConfig } = await inspect(site, entry)
  const memoryMb = wanted.memory_limit_mb ?? defaults.memoryMb
  const cpus = Math.min(NCPU, wanted.cpu_limit ?? defaults.cpus)
  const isRedis = kind === 'redis'
  const expected = [memoryMb, cpus, isRedis ? String((memoryMb * 2 ** 20 * 3) / 4) : null]
  const maxmemory = isRedis ? await readMaxmemory(site, entry) : null
  const found = [HostConfig.Memory! / 2 ** 20, HostConfig.NanoCpus! / 1e9, maxmemory]
  if (expected.join() === found.join()) return null
  return `${name}: expected ${expected.join(', ')} (MiB, CPUs, maxmemory), got ${found.join(', ')}`
}

async function readMaxmemory(site: Site, entry: DatastoreEntry): Promise<string> {
  const url = await networkUrl(site, entry)
  const output = await runClient(site.directory, 'redis', url, 'config', 'get', 'maxmemory')
  return output.trim().split('\n')[1]!
}

/** Limits saved while Docker or the container was unavailable must be applied later. */
export async function untilLimited(site: Site, { drill }: Book, entry: DatastoreEntry): Promise<void> {
  let fault: string | null = null
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(100)) {
    fault = await findMismatch(site, entry).catch((error: Error) => error.message)
    if (fault === null) return
  }
  drill.ledger.addViolation('limits saved without Docker are applied later', fault!)
}

/** Each datastore has one running container with its limits and one volume; there are no others. */
export async function checkContainers(site: Site, book: Book): Promise<void> {
  const { ledger, isForeign } = book.drill
  const found = await findLeftovers(site.prefix)
  const own = (names: string[]) => names.filter((name) => !isForeign(name))
  const [containers, volumes] = [own(found.containers), own(found.volumes)]
  const names = living(book).map(({ name }) => `${site.prefix}-datastore-${name}`)
  const expected = names.sort().join(', ')
  for (const [what, found] of Object.entries({ containers, volumes }))
    if (found.join(', ') !== expected)
      ledger.addViolation(
        'Docker has exactly the wanted objects',
        `${what}: ${expected}, not ${found.join(', ')}`,
      )
  for (const entry of living(book)) {
    const { State, HostConfig } = await inspect(site, entry)
    const label = `${State.Status}, ${HostConfig.RestartPolicy?.Name}`
    const mismatch = await findMismatch(site, entry)
    const faults = [label === 'running, unless-stopped' ? null : `${entry.name} is ${label}`, mismatch]
    for (const fault of faults.filter((fault) => fault !== null))
      ledger.addViolation('containers match their settings', fault)
  }
}

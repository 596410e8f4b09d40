// Checks the files after the daemon has stopped: rows, indexes and logs, and no rows for removed objects.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { showActorLine } from '../../src/http/records/log-lines.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import type { LogLine } from '../../storage/log/logs.ts'
import { openStore, type Store } from '../../storage/store/store.ts'
import { rowsOf } from '../support/storage/table-rows.ts'
import type { DockerState } from './docker-state.ts'
import type { Seen } from './follower.ts'
import { wasInterrupted } from './histories.ts'
import type { Ledger } from './ledger.ts'
import type { Settled } from './settled.ts'

interface Row {
  id: string
  service_id: string
  revision: number
  restarts: number
  final: boolean
  parked: string | null
}

interface Offline {
  ledger: Ledger
  settled: Settled
  docker: DockerState
  seen: readonly Seen[]
  /** The start of each life of the daemon except the first. */
  restartsAt: number[]
}

const intact = 'the store is intact'
const noOrphans = 'nothing on disk is orphaned'

export async function checkStored(dataDir: string, offline: Offline): Promise<void> {
  const { ledger } = offline
  const storage = await openStorage(dataDir, { onPanic: (reason) => ledger.addViolation(intact, reason) })
  try {
    checkAddresses(storage, offline)
    checkReleases(storage, offline)
    checkArchives(storage, dataDir, offline)
    await checkLogs(storage, offline)
  } finally {
    await storage.close()
  }
  const store = openStore(dataDir, { onPanic: (reason) => ledger.addViolation(intact, reason) })
  try {
    checkRows(store, offline)
  } catch (error) {
    ledger.addViolation(intact, String(error))
  } finally {
    await store.close()
  }
  const work = existsSync(join(dataDir, 'work')) ? readdirSync(join(dataDir, 'work')) : []
  for (const name of work) ledger.addViolation(noOrphans, `the work directory ${name} remains`)
}

/** Each service's newest archive, and the one for a rollback; no others. */
function checkArchives(storage: Storage, dataDir: string, { ledger, settled }: Offline): void {
  const directory = join(dataDir, 'archives')
  const found = existsSync(directory) ? readdirSync(directory).sort() : []
  const newest = settled.services.map(({ entry }) =>
    settled.deploys
      .filter((deploy) => deploy.entry.service === entry && deploy.entry.kind === 'upload' && deploy.record)
      .map((deploy) => deploy.entry.id)
      .sort()
      .at(-1),
  )
  const previous = storage.services.list().map((service) => service.former_archive_deploy_id)
  const wanted = [...newest, ...previous].filter((id) => id !== undefined && id !== null)
  const names = [...new Set(wanted)].map((id) => `${id}.tar.gz`).sort()
  if (found.join() === names.join()) return
  ledger.addViolation(noOrphans, `archives: ${names.join(', ')} are expected, found ${found.join(', ')}`)
}

/** Exactly the addresses of the existing containers. */
function checkAddresses(storage: Storage, { ledger, docker, settled }: Offline): void {
  const usedDeployIds = new Set(docker.containers.map(({ deployId }) => deployId))
  for (const id of storage.addresses.deployIds()) {
    if (!usedDeployIds.has(id)) ledger.addViolation(noOrphans, `${id} holds an address without a container`)
  }
  for (const { deployId, index, address, name } of docker.containers) {
    const stored = storage.addresses.get(deployId, index)
    if (stored !== address)
      ledger.addViolation(noOrphans, `${name} is at ${address}, but the record has ${stored}`)
  }
  for (const { record, entry } of settled.services) {
    const count = entry.wanted.suspended ? 0 : entry.wanted.instances
    const stored = record.live_deploy_id && storage.addresses.get(record.live_deploy_id, count)
    if (stored)
      ledger.addViolation(noOrphans, `${record.live_deploy_id} holds ${stored} for an excess instance`)
  }
}

/** A release exists for everything that can still run: its deploy and its image exist. */
function checkReleases(storage: Storage, { ledger, docker, settled }: Offline): void {
  const images = new Set(docker.images.map(({ name }) => name))
  for (const id of storage.releases.ids()) {
    const deploy = settled.deploys.find(({ entry }) => entry.id === id)
    const text = `the release of ${id}`
    if (!deploy?.record) ledger.addViolation(noOrphans, `${text}, which is unknown`)
    else if (!images.has(deploy.record.image)) {
      ledger.addViolation(
        noOrphans,
        `${text} (${deploy.record.trigger}, ${deploy.record.status}), whose image does not exist`,
      )
    }
  }
}

async function checkLogs(storage: Storage, { ledger, settled, seen, restartsAt }: Offline): Promise<void> {
  const known = new Map(
    settled.deploys.filter(({ record }) => record).map((deploy) => [deploy.entry.id, deploy]),
  )
  for (const id of await storage.logs.ids()) {
    if (!known.has(id)) ledger.addViolation(noOrphans, `the log of ${id}, which is unknown`)
  }
  for (const [id, { history }] of known) {
    const lines = await readLog(storage, id)
    const follower = seen.find((entry) => entry.id === id)
    const label = follower?.lines ?? []
    const stored = lines.map((line) => JSON.stringify(showActorLine(line)))
    const at = stored.findIndex((line, index) => line !== label[index])
    if (!storage.logs.isEnded(id)) ledger.addViolation('logs end', `the log of ${id} has no end`)
    if (!follower?.isEnded || label.length !== stored.length || at >= 0) {
      const text = `${id}: ${label.length} lines streamed, ${stored.length} stored; line ${at} differs`
      ledger.addViolation('followers see every line once', text, [
        ...stored.slice(-5),
        '---',
        ...label.slice(-5),
      ])
    }
    for (const fault of repetitionFaults(lines, history, restartsAt)) {
      ledger.addViolation('repeated work is logged', `${id}: ${fault}`, stored)
    }
  }
}

async function readLog(storage: Storage, id: string): Promise<LogLine[]> {
  const lines: LogLine[] = []
  for (;;) {
    const batch = await storage.logs.batchAfter(id, lines.length)
    if (batch === null) return lines
    lines.push(...batch.lines.slice(lines.length + 1 - batch.first))
  }
}

/** Each repeated clone and build follows a log line that announces it. */
function* repetitionFaults(
  lines: LogLine[],
  history: Settled['deploys'][0]['history'],
  restartsAt: number[],
) {
  const count = (pattern: RegExp) => lines.filter(({ line }) => pattern.test(line)).length
  const clones = count(/^cloning /)
  const builds = count(/\[internal\] load remote build context$/)
  if (clones > 1 + count(/^fetching starts again/)) yield `${clones} clones`
  if (builds > 1 + count(/^the build starts again/)) yield `${builds} builds`
  const isCutOff = history.some(({ state }) => state === 'failing' || state === 'canceling')
  if (
    !isCutOff &&
    wasInterrupted(history, 'running.fetching', restartsAt) &&
    !count(/^fetching starts again/)
  )
    yield 'was fetched again without a log line'
}

/** Reading a row verifies its checksum. */
function checkRows(store: Store, { ledger, settled }: Offline): void {
  const keysOf = (name: string) => rowsOf(store.table(name)).map(({ key }) => JSON.stringify(key))
  const names = 'names env credentials events events_by_time releases addresses deploy_addresses services'
  for (const name of names.split(' ')) keysOf(name)
  const rows = rowsOf(store.table<Row>('actors')).map(({ value }) => value)
  const services = new Set(settled.services.map(({ entry }) => entry.id))
  for (const row of rows) {
    const history = keysOf('history').filter((key) => key.startsWith(`["${row.id}",`))
    if (history.length !== row.revision) {
      ledger.addViolation(
        'histories have no gap',
        `${row.id}: ${history.length} entries for ${row.revision} transitions`,
      )
    }
    if (row.parked) ledger.addViolation('no actor is parked', `${row.id}: ${row.parked}`)
    if (row.restarts > 0) ledger.addViolation('no actor is restarted', `${row.id}: ${row.restarts} times`)
    const isRemoval = row.id.startsWith('svc-')
    if (!isRemoval && !services.has(row.service_id))
      ledger.addViolation(noOrphans, `${row.id} of a removed service`)
  }
  const active = keysOf('active').length
  const unfinished = rows.filter(({ final, parked }) => !final && !parked).length
  if (active !== unfinished)
    ledger.addViolation(intact, `${active} actors are listed as active, expected ${unfinished}`)
  for (const name of ['services', 'env', 'credentials']) {
    const strays = keysOf(name).filter((key) => !services.has(JSON.parse(key)))
    for (const key of strays) ledger.addViolation(noOrphans, `a row of ${name} for ${key}`)
  }
  if (keysOf('names').length !== services.size)
    ledger.addViolation(noOrphans, `names: ${keysOf('names').join(', ')}`)
  if (keysOf('addresses').length !== keysOf('deploy_addresses').length)
    ledger.addViolation(intact, 'addresses differ from their holders')
}

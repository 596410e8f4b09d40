// Checks the files of the stopped daemon: archives, addresses, releases, logs of repeated work, and rows.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Storage } from '../../../storage/index.ts'
import type { DockerState } from '../docker-state.ts'
import type { Drill } from '../drill.ts'
import { wasInterrupted } from '../histories.ts'
import { checkOwners, noOrphans, readLog, type StoreView } from '../stored.ts'
import type { Settled, SettledDeploy } from './settled.ts'

interface Found {
  drill: Drill
  settled: Settled
  docker: DockerState
}

export async function checkFiles(storage: Storage, found: Found): Promise<void> {
  const { drill, settled } = found
  const faults = [...archiveFaults(found), ...addressFaults(storage, found), ...releaseFaults(storage, found)]
  for (const fault of faults) drill.ledger.addViolation(noOrphans, fault)
  const restarts = drill.victim.lives.slice(1).map(({ startedAt }) => startedAt)
  for (const deploy of settled.deploys.filter(({ record }) => record)) {
    const lines = (await readLog(storage.logs, deploy.entry.id)).map(({ line }) => line)
    for (const fault of repetitionFaults(lines, deploy, restarts))
      drill.ledger.addViolation('repeated work is logged', `${deploy.entry.id}: ${fault}`, lines)
  }
}

/** Each service's newest archive, and no others. */
function* archiveFaults({ drill, settled }: Found) {
  const directory = join(drill.victim.dataDir, 'archives')
  const isOwn = (name: string) => !drill.isForeign(name.replace('.tar.gz', ''))
  const found = existsSync(directory) ? readdirSync(directory).filter(isOwn).sort() : []
  const uploads = settled.deploys.filter(({ entry, record }) => entry.kind === 'upload' && record)
  const newest = settled.services.map(({ entry }) => {
    const own = uploads.filter((upload) => upload.entry.service === entry)
    return own
      .map((upload) => upload.entry.id)
      .sort()
      .at(-1)
  })
  const wanted = newest.flatMap((id) => (id ? [`${id}.tar.gz`] : []))
  const names = [...new Set(wanted)].sort()
  if (found.join() !== names.join())
    yield `archives: ${names.join(', ')} are expected, found ${found.join(', ')}`
}

/** Exactly the addresses of the existing containers. */
function* addressFaults({ addresses }: Storage, { drill, docker, settled }: Found) {
  const used = docker.containers.map(({ deployId }) => deployId)
  for (const id of addresses.deployIds())
    if (!used.includes(id) && !drill.isForeign(id)) yield `${id} holds an address without a container`
  for (const { deployId, index, address, name } of docker.containers) {
    const stored = addresses.get(deployId, index)
    if (stored !== address) yield `${name} is at ${address}, but the record has ${stored}`
  }
  for (const { record, entry } of settled.services) {
    const count = entry.wanted.suspended ? 0 : entry.wanted.instances
    const stored = record.live_deploy_id && addresses.get(record.live_deploy_id, count)
    if (stored) yield `${record.live_deploy_id} holds ${stored} for an excess instance`
  }
}

/** A release exists for everything that can still run: its deploy and its image exist. */
function* releaseFaults({ releases }: Storage, { drill, docker, settled }: Found) {
  const images = docker.images.map(({ name }) => name)
  for (const id of [...releases.ids()].filter((id) => !drill.isForeign(id))) {
    const record = settled.recordOf(id)
    if (!record) yield `the release of ${id}, which is unknown`
    else if (!images.includes(record.image))
      yield `the release of ${id} (${record.trigger}, ${record.status}), whose image does not exist`
  }
}

/** Each repeated clone and build follows a log line that announces it. */
function* repetitionFaults(lines: string[], { history }: SettledDeploy, restarts: number[]) {
  const count = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length
  const clones = count(/^cloning /)
  const builds = count(/\[internal\] load remote build context$/)
  const fetchesAgain = count(/^fetching starts again/)
  if (clones > 1 + fetchesAgain) yield `${clones} clones`
  if (builds > 1 + count(/^the build starts again|building again$/)) yield `${builds} builds`
  const isCutOff = history.some(({ state }) => state === 'failing' || state === 'canceling')
  if (!isCutOff && wasInterrupted(history, 'running.fetching', restarts) && fetchesAgain === 0)
    yield 'was fetched again without a log line'
}

/** Rows of existing services, and no others. */
export function checkRows(view: StoreView, { drill, settled }: Pick<Found, 'drill' | 'settled'>): void {
  const { ledger, isForeign } = drill
  const keysOf = (table: string) => view.keysOf(table).filter((key) => !isForeign(key))
  const ids = settled.services.map(({ entry }) => entry.id)
  checkOwners(view, drill, ids)
  for (const table of ['services', 'env', 'credentials'])
    for (const key of keysOf(table).filter((key) => !ids.includes(JSON.parse(key))))
      ledger.addViolation(noOrphans, `a row of ${table} for ${key}`)
  const pairs = [
    ['names', keysOf('names').length, ids.length],
    ['addresses', view.keysOf('addresses').length, view.keysOf('deploy_addresses').length],
  ] as const
  for (const [table, count, expected] of pairs)
    if (count !== expected) ledger.addViolation(noOrphans, `${table}: ${count} rows, expected ${expected}`)
}

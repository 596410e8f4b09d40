// The effects of a backup: a file at a backup place, which is read back. For a dump, the programs of its
// datastore do that.
import type { BackupRecord, BackupSlotInput, DumpFacts, machine } from '../../../machines/backup.ts'
import type { DatastoreSubject } from '../../../machines/backup-subject.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import type {
  OneShotOutcome,
  OneShotSpec,
  OneShotStreams,
} from '../../docker/containers/one-shot-containers.ts'
import type { Command } from '../../docker/exec/exec.ts'
import { folderPlace } from '../../domain/backup-files.ts'
import type { Credentials, DatastoreKind } from '../../domain/datastore-urls.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { measured } from '../../object-storage/measured.ts'
import type { StoredObject } from '../../object-storage/object-store.ts'
import { putPushed } from '../../object-storage/pushed.ts'
import { type Datastore, findDatastore, limitsOf, maskPassword } from '../datastore/access.ts'
import { imageOf, postgresEnv } from '../datastore/kind.ts'
import { checkFreeDisk, guardDirectory } from '../disk/disk.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { bind } from '../ports.ts'
import { retryUntilCleanedUp, retryWhileEngineUnavailable } from '../waiting.ts'
import { dumpDisk, verifyDisk } from './disk.ts'
import { addressOf, reported } from './file.ts'
import type { BackupPorts, ToolPorts, TransferPorts } from './ports.ts'

export function backupEffects(ports: BackupPorts): Effects<typeof machine> {
  return {
    ...bind(ports, { dumpDatastore, checkBackup, pruneBackups, discardDump, removeBackup }),
    awaitRetry: awaitExpiry,
  }
}

/** The place may be unreachable for a while. */
async function removeBackup(ports: BackupPorts, input: BackupSlotInput, signal: AbortSignal) {
  const { place, name } = addressOf(input)
  const work = async () => {
    await ports.tools.remove(input.id)
    // A place that was removed keeps its objects.
    if (ports.places.has(place)) await ports.places.open(place).remove(name, signal)
  }
  await retryUntilCleanedUp(ports, input.id, signal, work, () => true)
}

/** A bucket that cannot be reached must not hide the failure: the next attempt or the deletion removes it. */
async function discardDump(ports: BackupPorts, input: BackupSlotInput, signal: AbortSignal) {
  const { place, name } = addressOf(input)
  if (place === folderPlace) return removeBackup(ports, input, signal)
  await retryUntilCleanedUp(ports, input.id, signal, () => ports.tools.remove(input.id))
  try {
    if (ports.places.has(place)) await ports.places.open(place).remove(name, signal)
  } catch (error) {
    signal.throwIfAborted()
    ports.logger.warn(
      { actor: input.id, place, reason: messageOf(error) },
      'a failed backup may have left parts',
    )
  }
}

const serveTimeoutMs = 120_000
const pollIntervalMs = 500
const dayMs = 24 * 60 * 60_000

interface BackupFormat {
  dump(credentials: Credentials): Command
  /** Reads the backup from standard input to the end; exit code 0 means that it is complete. */
  check: Command
}

const formats: Record<DatastoreKind, BackupFormat> = {
  postgres: {
    dump: (credentials) => ({ argv: ['pg_dump', '--format=custom'], env: postgresEnv(credentials) }),
    check: { argv: ['pg_restore', '-f', '/dev/null'] },
  },
  // redis-cli would append its end marker to a stream, so it writes to a file, which it ends properly.
  redis: {
    dump: ({ password }) => ({
      argv: ['sh', '-c', 'redis-cli -h 127.0.0.1 --rdb /tmp/dump.rdb >&2 && cat /tmp/dump.rdb'],
      env: { REDISCLI_AUTH: password },
    }),
    check: { argv: ['sh', '-c', 'cat > /tmp/dump.rdb && redis-check-rdb /tmp/dump.rdb >&2'] },
  },
}

export function dumpDatastore(ports: BackupPorts, input: BackupSlotInput, signal: AbortSignal) {
  return retryWhileEngineUnavailable(ports, signal, async () => {
    const write = await writerOf(ports, input, signal)
    try {
      if (addressOf(input).place !== folderPlace) return await write(signal)
      const guarded = { what: 'a backup', directory: ports.settings.backupDir }
      await checkFreeDisk(ports.settings, guarded.what, guarded.directory).catch((error: unknown) => {
        // A missing folder is created, or reported.
        if (codeOf(error) !== 'ENOENT') throw error
      })
      return await guardDirectory(ports, guarded, signal, write)
    } finally {
      ports.progress.delete(input.id)
    }
  })
}

async function writerOf(ports: BackupPorts, input: BackupSlotInput, signal: AbortSignal) {
  if (input.kind === 'disk') return (bound: AbortSignal) => dumpDisk(ports, input, bound)
  const datastore = await waitUntilServing(ports, input.datastoreId, signal)
  return (bound: AbortSignal) => dump(ports, datastore, input, bound)
}

function dump(
  ports: BackupPorts,
  datastore: Datastore,
  input: Extract<BackupSlotInput, DatastoreSubject>,
  signal: AbortSignal,
) {
  const { place, name } = addressOf(input)
  const store = ports.places.open(place)
  const command = formats[input.kind].dump(datastore.credentials)
  let doneBytes = 0
  return putPushed(
    (content) => store.put(name, content, signal),
    (push) => {
      const output = async (piece: Uint8Array) => {
        await push(piece)
        doneBytes += piece.length
        ports.progress.set(input.id, { doneBytes, totalBytes: null })
      }
      const run = { id: input.id, command, sharesNetwork: true, output }
      return useTool(ports, datastore, run, 'backup_failed', signal)
    },
  )
}

/** Also waits out an upgrade. Throws `datastore_failed` if it stays away, `not_found` if it was deleted. */
export async function waitUntilServing(
  ports: Pick<BackupPorts, 'owner' | 'storage'>,
  id: string,
  signal: AbortSignal,
): Promise<Datastore> {
  for (const endAt = Date.now() + serveTimeoutMs; ; await sleep(pollIntervalMs, signal)) {
    const datastore = findDatastore(ports, id)
    const { status, phase, error, name } = datastore.record
    // During its final backup the datastore serves, unless it has died.
    if (status === 'available' || phase === 'saving') return datastore
    const isLate = Date.now() > endAt && status !== 'upgrading'
    const hasEnded = isLate || status === 'deleting' || status === 'trashed'
    if (hasEnded) throw new Failure('datastore_failed', `${name} is ${status}${error ? `: ${error}` : ''}`)
  }
}

async function checkBackup(ports: BackupPorts, input: BackupSlotInput & DumpFacts, signal: AbortSignal) {
  const { place, name } = addressOf(input)
  const { sizeBytes, sha256 } = await retryWhileEngineUnavailable(ports, signal, async () => {
    const found = { id: input.id, stored: await ports.places.open(place).get(name, signal) }
    if (input.kind === 'disk') return verifyDisk(ports, found, signal)
    return verifyDump(ports, findDatastore(ports, input.datastoreId), found, signal)
  })
  if (sizeBytes !== input.sizeBytes || sha256 !== input.sha256)
    throw new Failure('backup_failed', 'what was read back differs from what was written')
}

/** Reads all of it. Throws `backup_failed` with the reason if the dump is incomplete. */
export async function verifyDump(
  ports: ToolPorts & TransferPorts,
  datastore: Datastore,
  { id, stored }: { id: string; stored: StoredObject },
  signal: AbortSignal,
): Promise<DumpFacts> {
  const { content, facts } = measured(reported(ports, id, stored))
  try {
    const { check: command } = formats[datastore.record.kind]
    const run = { id, command, sharesNetwork: false, input: content }
    const complaint = findToolError(await runTool(ports, datastore, run, signal), datastore)
    if (complaint !== null) throw new Failure('backup_failed', `it is incomplete: ${complaint}`)
    return facts()
  } finally {
    ports.progress.delete(id)
  }
}

/** Keeps the newest successful scheduled backups. Requested ones stay until a user deletes them. */
export async function pruneBackups(
  ports: Pick<BackupPorts, 'storage' | 'actors'>,
  { datastoreId }: { datastoreId: string | null },
) {
  if (datastoreId === null) return
  const datastore = ports.storage.actors.record<'datastore'>(datastoreId)
  if (datastore !== null) {
    const { backup_keep: keep, backup_keep_days: days } = datastore
    const endOfLife = days ? new Date(Date.now() - days * dayMs).toISOString() : ''
    const over = findExpired(backupsOf(ports, datastoreId), keep, endOfLife)
    for (const { id } of over)
      await ports.actors.send(id, { type: 'delete', at: isoNow(), by: 'the schedule' })
  }
}

/** Of a datastore, or of the disks of a service; the newest first. */
export function backupsOf({ storage }: Pick<BackupPorts, 'storage'>, ownerId: string): BackupRecord[] {
  const ids = [...storage.actors.active('backup', ownerId)].map(({ id }) => id)
  const records = ids.sort((a, b) => (a < b ? 1 : -1)).map((id) => storage.actors.record<'backup'>(id))
  return records.filter((record) => record !== null)
}

/**
 * Successful scheduled backups beyond the newest `keep`, those from before that time except the newest, and
 * failed ones older than those that stay. Newest first.
 */
function findExpired(backups: BackupRecord[], keep: number, endOfLife: string): BackupRecord[] {
  const scheduled = backups.filter(({ trigger }) => trigger === 'schedule')
  const good = scheduled.filter(({ status }) => status === 'good')
  const kept = good.slice(0, keep).filter(({ created_at: at }, index) => index === 0 || !(at < endOfLife))
  const oldest = kept.at(-1)
  if (oldest === undefined || (kept.length < keep && kept.length === good.length)) return []
  const hasEnded = ({ id, status }: BackupRecord) =>
    id < oldest.id && (status === 'good' || status === 'failed')
  return scheduled.filter(hasEnded)
}

/** A datastore's own tool, such as pg_dump, in a container of its image. */
interface ToolRun extends OneShotStreams {
  id: string
  command: Command
  /** Whether the tool reaches the datastore at 127.0.0.1. */
  sharesNetwork: boolean
  volume?: OneShotSpec['volume']
}

/** The tool gets the memory limit of the datastore, and at least the default limit. */
export function runTool(
  ports: ToolPorts,
  { record, name }: Datastore,
  { id, command: { argv, env = {} }, sharesNetwork, volume, ...streams }: ToolRun,
  signal: AbortSignal,
): Promise<OneShotOutcome> {
  const limits = limitsOf(ports, record)
  const memoryLimitMb = Math.max(limits.memoryLimitMb, ports.settings.defaultMemoryLimitMb)
  const image = imageOf(ports, record.kind, record.version)
  const networkOf = sharesNetwork ? name : null
  const spec = { ...limits, memoryLimitMb, id, image, argv, env, networkOf, ...(volume && { volume }) }
  return ports.tools.run(spec, streams, signal)
}

/** Throws that code with the reason if the tool fails. */
export async function useTool(
  ports: ToolPorts,
  datastore: Datastore,
  run: ToolRun,
  code: string,
  signal: AbortSignal,
): Promise<OneShotOutcome> {
  const outcome = await runTool(ports, datastore, run, signal)
  const complaint = findToolError(outcome, datastore)
  if (complaint !== null) throw new Failure(code, complaint)
  return outcome
}

/** The last lines of its error output, without the password; null if it succeeded. */
export function findToolError(outcome: OneShotOutcome, { credentials }: Datastore): string | null {
  if (outcome.exitCode === 0) return null
  if (outcome.isOutOfMemory) return 'it was killed at its memory limit'
  const lines = outcome.stderr.split('\n').map((line) => line.trim())
  const line =
    lines.findLast((line) => /error|fatal|refused/i.test(line)) ?? lines.findLast((line) => line !== '')
  return maskPassword(line ?? `exit code ${outcome.exitCode}`, credentials).slice(0, 300)
}

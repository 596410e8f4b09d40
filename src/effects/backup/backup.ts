// The effects of a backup: a dump of the datastore in a file, which the server's own programs read back.
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { BackupRecord, BackupSlotInput, DumpFacts, machine } from '../../../machines/backup.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import type {
  OneShotOutcome,
  OneShotSpec,
  OneShotStreams,
} from '../../docker/containers/one-shot-containers.ts'
import type { Command } from '../../docker/exec/exec.ts'
import type { Credentials, DatastoreKind } from '../../domain/datastore-urls.ts'
import { Failure } from '../../errors.ts'
import { type Datastore, findDatastore, limitsOf, maskPassword } from '../datastore/access.ts'
import { imageOf, postgresEnv } from '../datastore/kind.ts'
import { guardDirectory } from '../disk/disk.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { bind } from '../ports.ts'
import { retryUntilCleanedUp, retryWhileEngineUnavailable } from '../waiting.ts'
import { createDraft, findFile, publishDraft, readFile, removeFile } from './file.ts'
import type { BackupPorts, ToolPorts, TransferPorts } from './ports.ts'

export function backupEffects(ports: BackupPorts): Effects<typeof machine> {
  const remove = async (input: BackupSlotInput, signal: AbortSignal) => {
    const work = async () => {
      await ports.tools.remove(input.id)
      await removeFile(ports.settings, input)
    }
    // The backup directory may be missing or unwritable for a while.
    await retryUntilCleanedUp(ports, input.id, signal, work, () => true)
  }
  return {
    ...bind(ports, { dumpDatastore, checkBackup, pruneBackups }),
    discardDump: remove,
    removeBackup: remove,
    awaitRetry: awaitExpiry,
  }
}

const serveTimeoutMs = 120_000
const pollIntervalMs = 500

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
    const datastore = await waitUntilServing(ports, input.datastoreId, signal)
    try {
      const guarded = { what: 'a backup', directory: ports.settings.backupDir }
      return await guardDirectory(ports, guarded, signal, (bound) => dump(ports, datastore, input, bound))
    } finally {
      ports.progress.delete(input.id)
    }
  })
}

async function dump(ports: BackupPorts, datastore: Datastore, input: BackupSlotInput, signal: AbortSignal) {
  const draft = await createDraft(ports.settings, input)
  const hash = createHash('sha256')
  const output = async (piece: Uint8Array) => {
    hash.update(piece)
    await draft.write(piece)
    ports.progress.set(input.id, { doneBytes: draft.sizeBytes(), totalBytes: null })
  }
  try {
    const command = formats[input.kind].dump(datastore.credentials)
    const run = { id: input.id, command, sharesNetwork: true, output }
    await useTool(ports, datastore, run, 'backup_failed', signal)
  } finally {
    await draft.close()
  }
  return { sizeBytes: draft.sizeBytes(), sha256: hash.digest('hex') }
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
  const path = await findFile(ports.settings, input)
  const { sizeBytes, sha256 } = await retryWhileEngineUnavailable(ports, signal, () =>
    verifyFile(ports, findDatastore(ports, input.datastoreId), { id: input.id, path }, signal),
  )
  if (sizeBytes !== input.sizeBytes || sha256 !== input.sha256)
    throw new Failure('backup_failed', 'the backup read back from disk differs from what was written')
  await publishDraft(ports.settings, input)
}

/** Reads the whole file. Throws `backup_failed` with the reason if the backup is incomplete. */
export async function verifyFile(
  ports: ToolPorts & TransferPorts,
  datastore: Datastore,
  { id, path }: { id: string; path: string },
  signal: AbortSignal,
): Promise<DumpFacts> {
  const { size } = await stat(path).catch(() => {
    throw new Failure('backup_failed', `${path} is gone`)
  })
  const hash = createHash('sha256')
  let sizeBytes = 0
  async function* content() {
    for await (const piece of readFile(ports, { id, path, sizeBytes: size }, signal)) {
      hash.update(piece)
      sizeBytes += piece.length
      yield piece
    }
  }
  try {
    const { check: command } = formats[datastore.record.kind]
    const run = { id, command, sharesNetwork: false, input: content() }
    const complaint = findToolError(await runTool(ports, datastore, run, signal), datastore)
    if (complaint !== null) throw new Failure('backup_failed', `it is incomplete: ${complaint}`)
    return { sizeBytes, sha256: hash.digest('hex') }
  } finally {
    ports.progress.delete(id)
  }
}

/** Keeps the newest successful scheduled backups. Requested ones stay until a user deletes them. */
export async function pruneBackups(
  ports: Pick<BackupPorts, 'storage' | 'actors'>,
  { datastoreId }: { datastoreId: string },
) {
  const datastore = ports.storage.actors.record<'datastore'>(datastoreId)
  if (datastore !== null) {
    const over = findExpired(backupsOf(ports, datastoreId), datastore.backup_keep)
    for (const { id } of over)
      await ports.actors.send(id, { type: 'delete', at: isoNow(), by: 'the schedule' })
  }
}

export function backupsOf({ storage }: Pick<BackupPorts, 'storage'>, datastoreId: string): BackupRecord[] {
  const ids = [...storage.actors.active('backup', datastoreId)].map(({ id }) => id)
  const records = ids.sort((a, b) => (a < b ? 1 : -1)).map((id) => storage.actors.record<'backup'>(id))
  return records.filter((record) => record !== null)
}

/** Successful scheduled backups beyond the newest `keep`, and failed ones older than those. Newest first. */
function findExpired(backups: BackupRecord[], keep: number): BackupRecord[] {
  const scheduled = backups.filter(({ trigger }) => trigger === 'schedule')
  const oldest = scheduled.filter(({ status }) => status === 'good')[keep - 1]
  if (oldest === undefined) return []
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

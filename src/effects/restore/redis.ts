// Restores Redis: a second server loads the file, and the existing server becomes its replica until it
// has all data, also on disk. A replica refuses writes, so no write is acknowledged and then lost by
// the replacement.
import { sleep } from '../../async/sleep.ts'
import { Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'
import { createProgressReporter, readChunks } from '../backup/file.ts'
import { findToolError, runTool } from '../backup/tool.ts'
import type { Datastore } from '../datastore/access.ts'
import type { RestorePorts } from './ports.ts'
import { isTransient, type Restorer, type RestoreWork, runCommand } from './work.ts'

const sourcePort = 16_379
const pollIntervalMs = 100

/** Loads the given file, serves it to one replica, and ends with its container. */
const sourceScript = `cat > /tmp/dump.rdb
exec redis-server - <<END
bind 127.0.0.1
port ${sourcePort}
requirepass $REDISCLI_AUTH
dir /tmp
dbfilename dump.rdb
appendonly no
save ""
repl-diskless-sync yes
repl-diskless-sync-delay 0
END`

/** The marker is part of the data, so it is present exactly if all of them are. */
const markerKey = ({ id }: { id: string }) => `berth:restored:${id}`

export const redisRestorer: Restorer = {
  async load(ports, datastore, work, signal) {
    await withSource(ports, datastore, work, signal, async () => {
      const used = parseNumber(await info(ports, datastore, sourcePort, 'memory', signal), 'used_memory')
      const limit = parseNumber(await info(ports, datastore, null, 'memory', signal), 'maxmemory')
      if (limit === 0 || used <= limit) return
      throw new Failure(
        'restore_failed',
        `the data takes ${size(used)}, but only ${size(limit)} is usable: three quarters of its memory limit`,
      )
    })
  },

  async switchOver(ports, datastore, work, signal) {
    if (await hasSwitched(ports, datastore, work, signal)) return
    await withSource(ports, datastore, work, signal, async (requireSource) => {
      await runRedisCommand(ports, datastore, sourcePort, ['set', markerKey(work), '1'], signal)
      await runRedisCommand(ports, datastore, null, ['replicaof', '127.0.0.1', String(sourcePort)], signal)
      while (!(await isCaughtUp(ports, datastore, signal))) {
        requireSource()
        await sleep(pollIntervalMs, signal)
      }
      await runRedisCommand(ports, datastore, null, ['replicaof', 'no', 'one'], signal)
    })
  },

  async tidy(ports, datastore, work, signal) {
    await runRedisCommand(ports, datastore, null, ['del', markerKey(work)], signal)
  },

  async undo(ports, datastore, _work, signal) {
    const isReplica = /role:slave/.test(await info(ports, datastore, null, 'replication', signal))
    // Replicated data is in memory only; a restart loads the data on disk.
    if (isReplica) await ports.instances.stop(datastore.name, 0)
  },
}

/** Whether it has received all data, and has written its own append-only file. */
async function isCaughtUp(ports: RestorePorts, datastore: Datastore, signal: AbortSignal): Promise<boolean> {
  const replication = await info(ports, datastore, null, 'replication', signal)
  const persistence = await info(ports, datastore, null, 'persistence', signal)
  const requiredLines = {
    [replication]: ['master_link_status:up', 'master_sync_in_progress:0'],
    [persistence]: [
      'loading:0',
      'aof_enabled:1',
      'aof_rewrite_in_progress:0',
      'aof_rewrite_scheduled:0',
      'aof_last_bgrewrite_status:ok',
    ],
  }
  return Object.entries(requiredLines).every(([text, lines]) => lines.every((line) => text.includes(line)))
}

async function hasSwitched(
  ports: RestorePorts,
  datastore: Datastore,
  work: RestoreWork,
  signal: AbortSignal,
) {
  const isReplica = /role:slave/.test(await info(ports, datastore, null, 'replication', signal))
  return (
    !isReplica && (await runRedisCommand(ports, datastore, null, ['exists', markerKey(work)], signal)) === '1'
  )
}

/** Runs a function while the second server serves the data; `requireSource` checks that server. */
async function withSource(
  ports: RestorePorts,
  datastore: Datastore,
  work: RestoreWork,
  signal: AbortSignal,
  load: (requireSource: () => void) => Promise<void>,
): Promise<void> {
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  const { password } = datastore.credentials
  const command = { argv: ['sh', '-c', sourceScript], env: { REDISCLI_AUTH: password } }
  const input = readChunks(work.path, createProgressReporter(ports, work.id, work.sizeBytes), signal)
  let early: string | null = null
  const running = runTool(
    ports,
    datastore,
    { id: work.id, command, sharesNetwork: true, input },
    either,
  ).then(
    (outcome) => {
      early = findToolError(outcome, datastore) ?? 'it exited on its own'
    },
    (error: unknown) => {
      if (!either.aborted) early = error instanceof Error ? error.message : String(error)
    },
  )
  const requireSource = () => {
    if (early !== null) throw new Failure('restore_failed', `the data cannot be loaded: ${early}`)
  }
  try {
    await waitUntilLoaded(ports, datastore, requireSource, signal)
    await load(requireSource)
  } finally {
    ending.abort(new Failure('canceled', 'no longer needed'))
    await running
  }
}

async function waitUntilLoaded(
  ports: RestorePorts,
  datastore: Datastore,
  requireSource: () => void,
  signal: AbortSignal,
) {
  for (;;) {
    requireSource()
    const response = await runRedisCommand(ports, datastore, sourcePort, ['ping'], signal).catch(
      (error: unknown) => {
        if (isTransient(error)) throw error
        return ''
      },
    )
    if (response === 'PONG') return
    await sleep(pollIntervalMs, signal)
  }
}

function info(
  ports: RestorePorts,
  datastore: Datastore,
  port: number | null,
  section: string,
  signal: AbortSignal,
) {
  return runRedisCommand(ports, datastore, port, ['info', section], signal)
}

function parseNumber(text: string, field: string): number {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

/** Throws `restore_failed` for an error response. */
function runRedisCommand(
  ports: RestorePorts,
  datastore: Datastore,
  port: number | null,
  args: string[],
  signal: AbortSignal,
): Promise<string> {
  const connection = ['-h', '127.0.0.1', ...(port === null ? [] : ['-p', String(port)])]
  const command = {
    argv: ['redis-cli', '-e', ...connection, ...args],
    env: { REDISCLI_AUTH: datastore.credentials.password },
  }
  return runCommand(ports, datastore, command, signal)
}

// Restores Redis: a second server loads the file, and the existing server becomes its replica until it
// has all data, also on disk. A replica refuses writes, so no write is acknowledged and then lost by
// the replacement.
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { size } from '../../quantities.ts'
import { findToolError, runTool } from '../backup/backup.ts'
import { type Restorer, type RestoreStep, readRestoreFile, runCommand } from './step.ts'

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
const markerKey = ({ input }: RestoreStep) => `berth:restored:${input.id}`

/** Present in the server once it has received all data, and has written its own append-only file. */
const caughtUp = {
  replication: ['master_link_status:up', 'master_sync_in_progress:0'],
  persistence: [
    'loading:0',
    'aof_enabled:1',
    'aof_rewrite_in_progress:0',
    'aof_rewrite_scheduled:0',
    'aof_last_bgrewrite_status:ok',
  ],
}

export const redisRestorer: Restorer = {
  async load(step) {
    await withSource(step, async () => {
      const used = parseNumber(await askSource(step, 'info', 'memory'), 'used_memory')
      const limit = parseNumber(await ask(step, 'info', 'memory'), 'maxmemory')
      if (limit === 0 || used <= limit) return
      throw new Failure(
        'restore_failed',
        `the data takes ${size(used)}, but only ${size(limit)} is usable: three quarters of its memory limit`,
      )
    })
  },

  async switchOver(step) {
    const hasSwitched = !(await isReplica(step)) && (await ask(step, 'exists', markerKey(step))) === '1'
    if (hasSwitched) return
    await withSource(step, async (requireSource) => {
      await askSource(step, 'set', markerKey(step), '1')
      await ask(step, 'replicaof', '127.0.0.1', String(sourcePort))
      while (!(await isCaughtUp(step))) {
        requireSource()
        await sleep(pollIntervalMs, step.signal)
      }
      await ask(step, 'replicaof', 'no', 'one')
    })
  },

  async tidy(step) {
    await ask(step, 'del', markerKey(step))
  },

  async undo(step) {
    // Replicated data is in memory only; a restart loads the data on disk.
    if (await isReplica(step)) await step.ports.instances.stop(step.datastore.name, 0)
  },
}

async function isReplica(step: RestoreStep): Promise<boolean> {
  return (await ask(step, 'info', 'replication')).includes('role:slave')
}

async function isCaughtUp(step: RestoreStep): Promise<boolean> {
  for (const [section, lines] of Object.entries(caughtUp)) {
    const text = await ask(step, 'info', section)
    if (!lines.every((line) => text.includes(line))) return false
  }
  return true
}

/** Runs a function while the second server serves the data; `requireSource` checks that server. */
async function withSource(
  step: RestoreStep,
  work: (requireSource: () => void) => Promise<void>,
): Promise<void> {
  const { ports, datastore, input, signal } = step
  // One that a killed daemon left would answer in place of the new one, and then be removed.
  await ports.tools.remove(input.id)
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  const command = {
    argv: ['sh', '-c', sourceScript],
    env: { REDISCLI_AUTH: datastore.credentials.password },
  }
  const run = { id: input.id, command, sharesNetwork: true, input: readRestoreFile(step) }
  let early: string | null = null
  const running = runTool(ports, datastore, run, either).then(
    (outcome) => {
      early = findToolError(outcome, datastore) ?? 'it exited on its own'
    },
    (error: unknown) => {
      if (!either.aborted) early = messageOf(error)
    },
  )
  const requireSource = () => {
    if (early !== null) throw new Failure('restore_failed', `the data cannot be loaded: ${early}`)
  }
  try {
    await waitUntilLoaded(step, requireSource)
    await work(requireSource)
  } finally {
    ending.abort(new Failure('canceled', 'no longer needed'))
    await running
  }
}

async function waitUntilLoaded(step: RestoreStep, requireSource: () => void): Promise<void> {
  for (;;) {
    requireSource()
    const response = await askSource(step, 'ping').catch((error: unknown) => {
      if (codeOf(error) !== 'restore_failed') throw error
      return ''
    })
    if (response === 'PONG') return
    await sleep(pollIntervalMs, step.signal)
  }
}

function parseNumber(text: string, field: string): number {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1] ?? 0)
}

/** The response of the datastore. Throws `restore_failed` for an error response. */
function ask(step: RestoreStep, ...words: string[]): Promise<string> {
  const env = { REDISCLI_AUTH: step.datastore.credentials.password }
  return runCommand(step, { argv: ['redis-cli', '-e', '-h', '127.0.0.1', ...words], env })
}

function askSource(step: RestoreStep, ...words: string[]): Promise<string> {
  return ask(step, '-p', String(sourcePort), ...words)
}

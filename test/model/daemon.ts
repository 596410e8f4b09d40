// A simulated daemon: a supervisor with slow commits, which can fail or be killed at any point.
// A kill discards everything not yet on disk and stops all further work.
import { catalogue } from '../../machines/index.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { StorageError } from '../../storage/store/errors.ts'
import { withActors } from '../support/storage/store-fixtures.ts'
import { instant, silentLogger } from '../support/supervisor/supervision.ts'
import { never, type Stage } from './stage.ts'

export interface Disk {
  /** The number of event loop turns that a commit takes. */
  commitTurns: number
  /** The number of commits that succeed before one fails. */
  commitsUntilRefusal: number | null
}

/** Unused, but the supervisor requires effects for every kind of the catalogue. */
const idle = Object.fromEntries(
  Object.entries(catalogue).map(([name, { machine }]) => [
    name,
    Object.fromEntries(Object.keys(machine.implementations.actors).map((slot) => [slot, never])),
  ]),
)

export type Daemon = ReturnType<typeof startDaemon>

export function startDaemon(storage: Storage, stage: Stage, disk: Disk) {
  const writes = new Set<Promise<unknown>>()
  let isDead = false
  let reportDeath: (death: null) => void = () => undefined
  const death = new Promise<null>((resolve) => {
    reportDeath = resolve
  })

  const advance: typeof storage.actors.advance = async (transition) => {
    await turns(disk.commitTurns)
    if (isDead) return never()
    if (disk.commitsUntilRefusal !== null && disk.commitsUntilRefusal-- === 0) {
      disk.commitsUntilRefusal = null
      throw new StorageError('commit_failed', 'no space left')
    }
    const write = storage.actors.advance(transition)
    writes.add(write)
    await write
    if (isDead) return never()
  }

  const supervisor = new Supervisor({
    storage: withActors(storage, { advance }),
    catalogue,
    logger: silentLogger,
    now: () => Date.parse(instant),
  })
  supervisor.provide({ ...idle, deploy: stage.effects(() => isDead) })

  return {
    supervisor,
    /** Resolves with null if the daemon was killed. */
    death,
    stop: () => supervisor.stop(),
    async kill(): Promise<void> {
      isDead = true
      stage.abandon()
      reportDeath(null)
      await Promise.allSettled(writes)
      void supervisor.stop(0)
    },
  }
}

/** Runs this many event loop turns. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

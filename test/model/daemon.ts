// One life of the daemon: a supervisor whose commits take their time, that can be refused one, and can die.
// Death takes all that was not yet on disk, says nothing to anybody, and runs nothing any more.
import { catalogue } from '../../machines/index.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { StorageError } from '../../storage/store/errors.ts'
import { withActors } from '../support/store-fixtures.ts'
import { instant, silentLogger } from '../support/supervision.ts'
import { never, type Stage } from './stage.ts'

export interface Disk {
  /** How many turns of the event loop a commit takes. */
  commitTurns: number
  /** So many commits succeed, then one is refused. */
  commitsUntilRefusal: number | null
}

/** Nobody asks for these: they are there because every kind of the catalogue has its effects. */
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
  let tellDeath: (death: null) => void = () => undefined
  const death = new Promise<null>((resolve) => {
    tellDeath = resolve
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
    /** Resolves with null when it was killed. */
    death,
    stop: () => supervisor.stop(),
    async kill(): Promise<void> {
      isDead = true
      stage.abandon()
      tellDeath(null)
      await Promise.allSettled(writes)
      void supervisor.stop(0)
    },
  }
}

/** Lets everything go on that is ready, so many times. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

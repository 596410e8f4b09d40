// Restores the actors of a data directory like the daemon at startup, and prints the duration.
// Usage: restore DATA_DIRECTORY EXPECTED
import { catalogue } from '../../../machines/index.ts'
import { createLogger } from '../../../src/logger.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { openStorage } from '../../../storage/index.ts'
import { instantEffects } from '../instant-effects.ts'

export interface Restored {
  openMs: number
  /** Until the effect of every actor has started again. */
  restoreMs: number
  restoreCpuMs: number
  residentMegabytes: number
}

const [directory, expected] = [process.argv[2]!, Number(process.argv[3])]
const { effects, whenHeld } = instantEffects(['keepInstances'])

const openedAt = performance.now()
const storage = await openStorage(directory, { onPanic: (reason) => process.exit(Number(reason) || 1) })
const supervisor = new Supervisor({ storage, catalogue, logger: createLogger({ level: 'error' }) })
supervisor.provide(effects)

const startedAt = performance.now()
const cpu = process.cpuUsage()
const { restored, parked } = await supervisor.restore()
await whenHeld(expected)
const restoredAt = performance.now()
const { user, system } = process.cpuUsage(cpu)

if (restored !== expected || parked > 0) throw new Error(`${restored} restored, ${parked} parked`)
const result: Restored = {
  openMs: startedAt - openedAt,
  restoreMs: restoredAt - startedAt,
  restoreCpuMs: (user + system) / 1000,
  residentMegabytes: process.memoryUsage.rss() / 1024 / 1024,
}
console.log(JSON.stringify(result))
await supervisor.stop()
await storage.close()

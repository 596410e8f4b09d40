// Copies a data directory into an empty folder, starts store and supervisor of the copy some times, and
// prints the least processor time in milliseconds. The time on the clock grows with the load of the machine.
import { catalogue } from '../../machines/index.ts'
import { createLogger } from '../../src/logger.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import { openStorage } from '../../storage/index.ts'
import { copyServer } from '../../storage/server-copy.ts'
import { endlessEffects } from '../support/storage/parked-kinds.ts'

const tries = 5
const onPanic = (reason: string) => {
  throw new Error(reason)
}

async function start(directory: string): Promise<number> {
  const before = process.cpuUsage()
  const storage = await openStorage(directory, { onPanic })
  const supervisor = new Supervisor({ storage, catalogue, logger: createLogger({ level: 'silent' }) })
  supervisor.provide(endlessEffects())
  await supervisor.restore()
  const { user, system } = process.cpuUsage(before)
  await supervisor.stop()
  await storage.close()
  return (user + system) / 1000
}

const [dataDir, copy] = process.argv.slice(2) as [string, string]
await copyServer(dataDir, copy)
let leastMs = Number.POSITIVE_INFINITY
for (let count = 0; count < tries; count++) leastMs = Math.min(leastMs, await start(copy))
console.log(leastMs)

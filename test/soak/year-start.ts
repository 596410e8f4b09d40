// Copies a data directory into an empty folder, starts store and supervisor of the copy some times, and
// prints the shortest time in milliseconds: other work of the machine only makes a start longer.
import { catalogue } from '../../machines/index.ts'
import { createLogger } from '../../src/logger.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import { openStorage } from '../../storage/index.ts'
import { copyServer } from '../../storage/server-copy.ts'
import { endlessEffects } from '../support/storage/parked-kinds.ts'

const tries = 3
const onPanic = (reason: string) => {
  throw new Error(reason)
}

async function start(directory: string): Promise<number> {
  const startedAt = performance.now()
  const storage = await openStorage(directory, { onPanic })
  const supervisor = new Supervisor({ storage, catalogue, logger: createLogger({ level: 'silent' }) })
  supervisor.provide(endlessEffects())
  await supervisor.restore()
  const tookMs = performance.now() - startedAt
  await supervisor.stop()
  await storage.close()
  return tookMs
}

const [dataDir, copy] = process.argv.slice(2) as [string, string]
await copyServer(dataDir, copy)
let shortestMs = Number.POSITIVE_INFINITY
for (let count = 0; count < tries; count++) shortestMs = Math.min(shortestMs, await start(copy))
console.log(shortestMs)

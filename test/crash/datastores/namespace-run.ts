// The part of the run inside a namespace with a private engine.
// Writes JSON lines to stdout: log lines as they come, and the outcome last.
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../../support/daemon/api.ts'
import { loadImage, startNamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { openNetwork } from '../../support/system/namespace.ts'
import { createClient } from '../client.ts'
import { createLedger } from '../ledger.ts'
import { createChance } from '../random.ts'
import { openVictim } from '../victim.ts'
import type { RunState } from './book.ts'
import { type Drill, runDrill } from './drill.ts'
import { createIncidents } from './incidents.ts'
import type { DatastoreRunOptions } from './run.ts'

/** Passed in through the environment. */
type Passed = Omit<DatastoreRunOptions, 'log'> & {
  prepared: string
  images: { postgres: string; redis: string }
}

const engineCodes = ['docker_unavailable', 'docker_error']

async function run({ prepared, images, kills, engineRestarts, seed, keep }: Passed) {
  const beganAt = Date.now()
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(prepared, 'engine'))
  process.env.DOCKER_HOST = engine.address
  for (const file of readdirSync(prepared).filter((name) => name.endsWith('.tar')))
    await loadImage(engine.address, join(prepared, file))
  const ledger = createLedger()
  const victim = await openVictim({
    args: ['--min-free-disk=16', `--postgres-image=${images.postgres}`, `--redis-image=${images.redis}`],
    onDeath: (reason) => ledger.addViolation('the daemon does not exit on its own', reason),
  })
  // The end of a namespace's first process ends all others.
  process.once('SIGINT', () => {
    rmSync(victim.directory, { recursive: true, force: true })
    process.exit(130)
  })
  const incidents = createIncidents()
  // Changing limits without Docker returns this error.
  const isExcused = ({ body }: Answer, sentAt: number) =>
    engineCodes.includes(body?.code) && incidents.wasEngineAway(sentAt, performance.now())
  const client = createClient(victim, ledger, isExcused)
  const book: RunState = {
    ...{ client, ledger, incidents, datastores: [], requests: [] },
    ...{ isOver: () => drill.usersStopped, isLeftAlone: false },
  }
  const drill: Drill = {
    ...{ kills, engineRestarts, prepared, victim, engine, book, chance: createChance(seed) },
    ...{ usersStopped: false, writersStopped: false, log },
  }
  let keepFiles = true
  try {
    const result = await runDrill(drill)
    keepFiles = keep || ledger.violations.length > 0
    return {
      ...result,
      seed,
      durationMs: Date.now() - beganAt,
      savedFiles: keepFiles ? victim.directory : null,
    }
  } catch (error) {
    log(`files: ${victim.directory}`)
    throw error
  } finally {
    if (keepFiles) copyFileSync(join(prepared, 'engine/dockerd.log'), join(victim.directory, 'dockerd.log'))
    await victim.remove({ keepFiles })
    await engine.stop()
  }
}

function log(line: string): void {
  console.log(JSON.stringify({ said: line }))
  if (process.env.SAID_AT_ONCE) console.error(line)
}

const passed: Passed = JSON.parse(process.env.DATASTORE_RUN!)
try {
  console.log(JSON.stringify({ outcome: await run(passed) }))
} catch (error) {
  console.log(JSON.stringify({ failure: String((error as Error).stack) }))
  process.exitCode = 1
}
process.exit()

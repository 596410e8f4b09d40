// The environment of a drill: a daemon, its services' repository and a mark listener. Removed afterwards,
// except for the files if there are violations.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../../support/daemon/api.ts'
import type { NamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { createRepository } from '../../support/git/repository.ts'
import type { Scope } from '../../support/system/directory.ts'
import { createClient } from '../client.ts'
import { createIncidents } from '../datastores/incidents.ts'
import { openFollowers } from '../follower.ts'
import { createLedger, type Ledger } from '../ledger.ts'
import { createChance } from '../random.ts'
import { openVictim, type Victim } from '../victim.ts'
import type { Book } from './book.ts'
import { type Drill, runDrill } from './drill.ts'
import { listenForMarks, type MarkServer } from './marks.ts'
import type { JobOutcome } from './report.ts'

export interface StageOptions {
  kills: number
  engineRestarts: number
  seed: number
  /** The base image, already on the engine. */
  baseImage: string
  /** Saves the files even without violations. */
  keep: boolean
  log: (line: string) => void
}

const engineCodes = ['docker_unavailable', 'docker_error']

export async function playDrill(
  scope: Scope,
  options: StageOptions,
  engine: NamespaceEngine | null,
): Promise<JobOutcome> {
  const beganAt = Date.now()
  const ledger = createLedger()
  const marks = await listenForMarks(scope)
  const onDeath = (reason: string) => ledger.addViolation('the daemon does not exit on its own', reason)
  const victim = await openVictim({ args: ['--min-free-disk=16', `--host-ports=${marks.port}`], onDeath })
  const leave = () => void victim.remove({ keepFiles: false }).finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  let keepFiles = true
  try {
    const drill = openDrill(scope, options, { engine, ledger, victim, marks })
    const result = await runDrill(drill)
    keepFiles = options.keep || ledger.violations.length > 0
    const durationMs = Date.now() - beganAt
    return { ...result, seed: options.seed, durationMs, savedFiles: keepFiles ? victim.directory : null }
  } catch (error) {
    options.log(`files: ${victim.directory}`)
    throw error
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    if (keepFiles && engine) keepEngineLog(engine, victim)
    await victim.remove({ keepFiles })
  }
}

interface Props {
  engine: NamespaceEngine | null
  ledger: Ledger
  victim: Victim
  marks: MarkServer
}

function openDrill(scope: Scope, options: StageOptions, props: Props): Drill {
  const { engine, ledger, victim, marks } = props
  const { kills, engineRestarts, seed, baseImage, log } = options
  const repository = createRepository(scope)
  repository.commit('First', { Dockerfile: `FROM ${baseImage}\nCMD ["true"]\n` })
  const incidents = createIncidents()
  const isExcused = ({ body }: Answer, sentAt: number) =>
    engineCodes.includes(body?.code) && incidents.wasEngineAway(sentAt, performance.now())
  const book: Book = {
    ...{ ledger, incidents, client: createClient(victim, ledger, isExcused) },
    ...{ followers: openFollowers(victim, ledger, 'jobs'), services: [], entries: new Map() },
    ...{ markPort: marks.port, isOver: () => drill.isOver },
  }
  const drill: Drill = {
    ...{ kills, engineRestarts, repoUrl: repository.directory, victim, engine, book, marks: marks.marks },
    ...{ chance: createChance(seed), isOver: false, log },
  }
  return drill
}

function keepEngineLog({ path }: NamespaceEngine, { directory }: Victim): void {
  const log = join(path, '../dockerd.log')
  if (existsSync(log)) copyFileSync(log, join(directory, 'dockerd.log'))
}

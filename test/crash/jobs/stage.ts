// What a drill is played on: a daemon, its services' repository, somebody who listens for marks. All of it is
// gone afterwards, but for the files when something is wrong.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../../support/api.ts'
import type { Scope } from '../../support/directory.ts'
import type { NamespaceEngine } from '../../support/namespace-engine.ts'
import { createRepository } from '../../support/repository.ts'
import { createChance } from '../chance.ts'
import { createClient } from '../client.ts'
import { createIncidents } from '../datastores/incidents.ts'
import { openFollowers } from '../follower.ts'
import { createLedger, type Ledger } from '../ledger.ts'
import { openVictim, type Victim } from '../victim.ts'
import type { Book } from './book.ts'
import { type Drill, runDrill } from './drill.ts'
import { listenForMarks, type MarkServer } from './marks.ts'
import type { JobOutcome } from './report.ts'

export interface StageOptions {
  kills: number
  engineRestarts: number
  seed: number
  /** On the engine already. */
  baseImage: string
  /** Keeps the files, also when nothing is wrong. */
  keep: boolean
  say: (line: string) => void
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
  const onDeath = (words: string) => ledger.breach('the daemon ends only when it is killed', words)
  const victim = await openVictim({ args: ['--min-free-disk=16', `--host-ports=${marks.port}`], onDeath })
  const leave = () => void victim.remove({ keepFiles: false }).finally(() => process.exit(130))
  process.once('SIGINT', leave).once('SIGTERM', leave)
  let kept = true
  try {
    const drill = openDrill(scope, options, { engine, ledger, victim, marks })
    const told = await runDrill(drill)
    kept = options.keep || ledger.breaches.length > 0
    const durationMs = Date.now() - beganAt
    return { ...told, seed: options.seed, durationMs, kept: kept ? victim.directory : null }
  } catch (error) {
    options.say(`files: ${victim.directory}`)
    throw error
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    if (kept && engine) keepEngineLog(engine, victim)
    await victim.remove({ keepFiles: kept })
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
  const { kills, engineRestarts, seed, baseImage, say } = options
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
    ...{ chance: createChance(seed), isOver: false, say },
  }
  return drill
}

function keepEngineLog({ path }: NamespaceEngine, { directory }: Victim): void {
  const log = join(path, '../dockerd.log')
  if (existsSync(log)) copyFileSync(log, join(directory, 'dockerd.log'))
}

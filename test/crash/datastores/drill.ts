// One run: datastores are written to while the daemon is killed and Docker restarts, then
// everything is checked.
// Choices are seeded, timing is not.

import { setTimeout as sleep } from 'node:timers/promises'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import type { NamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { processesOf } from '../processes.ts'
import type { Chance } from '../random.ts'
import { killLine } from '../report.ts'
import type { Victim } from '../victim.ts'
import { create, remove, repeat, untilAvailable } from './actions.ts'
import { living, type RunState } from './book.ts'
import { networkUrl } from './container.ts'
import { type EngineRestart, restartEngine, untilServed } from './engine-restarts.ts'
import { checkBreaks, type Kill, killFigures, killOnce } from './kills.ts'
import type { InspectTarget } from './limits.ts'
import { runClient } from './line-client.ts'
import { checkContainers, checkPromises, checkRows } from './promises.ts'
import { type DatastoreOutcome, engineRestartLine } from './report.ts'
import { rowKinds } from './rows.ts'
import { checkStored } from './stored.ts'
import { churnDatastores, exerciseDatastore } from './users.ts'
import { createWriter, type Way, type Writer, writeRows } from './writer.ts'

export interface Drill {
  kills: number
  engineRestarts: number
  prepared: string
  victim: Victim
  engine: NamespaceEngine
  book: RunState
  chance: Chance
  /** Set after the last kill: users stop first, then writers. */
  usersStopped: boolean
  writersStopped: boolean
  log: (line: string) => void
}

type DrillOutcome = Omit<DatastoreOutcome, 'seed' | 'durationMs' | 'savedFiles'>

export async function runDrill(drill: Drill): Promise<DrillOutcome> {
  const { victim, book, prepared } = drill
  victim.start()
  const writers = await makeWriters(drill)
  const { kills, engineRestarts } = await writeAndKill(drill, writers)
  const api = await victim.whenUp()
  for (const request of book.requests) await repeat(book, request)
  for (const entry of living(book)) await untilAvailable(book, entry)
  await checkPromises(api, book)
  await checkContainers(inspectTargetOf(drill), book)
  checkBreaks(writers, book)
  await stopInOrder(drill)
  await checkRows(prepared, writers, book)
  await checkStored(victim.dataDir, book)
  const datastoreCount = book.datastores.length
  const deleted = datastoreCount - living(book).length
  const leftovers = await removeAll(drill)
  readDaemonLog(drill)
  return {
    kills: kills.length,
    killsAtStart: kills.filter(({ wasUp }) => !wasUp).length,
    killsWithoutEngine: kills.filter(({ wasEngineAway }) => wasEngineAway).length,
    killFigures: killFigures(kills, writers, book),
    engineRestarts,
    writers: writers.map(figuresOf),
    datastores: {
      made: datastoreCount,
      deleted,
      restarts: book.requests.filter(({ path }) => /restart$/.test(path)).length,
    },
    figures: book.ledger.figures,
    leftovers,
    violations: book.ledger.violations,
  }
}

/** One datastore of each kind, with two writers each. */
async function makeWriters(drill: Drill): Promise<Writer[]> {
  const entries = [await create(drill.book, 'postgres', 'orders'), await create(drill.book, 'redis', 'queue')]
  const writers: Writer[] = []
  for (const entry of entries) {
    await untilAvailable(drill.book, entry)
    const { body } = await drill.book.client.request({ method: 'GET', path: `/datastores/${entry.id}` })
    const urls: Record<Way, string> = {
      port: body.external_url,
      network: await networkUrl(inspectTargetOf(drill), entry),
    }
    for (const [way, url] of Object.entries(urls) as [Way, string][]) {
      const writer = createWriter(entry, way, url)
      const preparation = rowKinds[entry.kind].preparation(writer.table)
      if (preparation !== null) await runClient(drill.prepared, entry.kind, url, preparation)
      writers.push(writer)
    }
  }
  return writers
}

/** Ends with a running daemon and engine, stopped users, and writers that were served. */
async function writeAndKill(drill: Drill, writers: Writer[]) {
  const { book, chance, prepared } = drill
  const entries = [...new Set(writers.map(({ entry }) => entry))]
  const isOver = () => drill.writersStopped
  const writing = Promise.all(
    writers.map((writer) => writeRows(writer, { prepared, isOver, chance: chance.fork() })),
  )
  const using = Promise.all([
    ...entries.map((entry) => exerciseDatastore(book, entry, chance.fork())),
    churnDatastores(book, chance.fork()),
  ]).catch((error: Error) => book.ledger.addViolation('every request is answered', String(error.stack)))
  const done: Kill[] = []
  const [engineRestarts] = await Promise.all([restartEngines(drill, writers, done), killAll(drill, done)])
  drill.usersStopped = true
  await using
  await drill.victim.whenHealthy()
  await untilServed(book, writers)
  drill.writersStopped = true
  await writing
  return { kills: done, engineRestarts }
}

async function killAll(drill: Drill, done: Kill[]): Promise<void> {
  const { victim, book, kills, log } = drill
  const chance = drill.chance.fork()
  while (done.length < kills) {
    const previous = done.at(-1)
    void victim.whenHealthy().then(
      () => previous && book.incidents.end(previous.incident),
      () => undefined,
    )
    const kill = await killOnce(victim, book, chance, done.length + 1)
    if (previous && previous.incident.to === Number.POSITIVE_INFINITY) book.incidents.end(previous.incident)
    done.push(kill)
    log(`${killLine(kill, kills)}${kill.wasEngineAway ? ', Docker restarts' : ''}`)
    await sleep(chance.isTrue(0.5) ? 0 : chance.between(0, 3000))
    victim.start()
  }
  await victim.whenHealthy()
  const last = done.at(-1)
  if (last) book.incidents.end(last.incident)
}

/** Spread over the kills; stops and kills alternate, starting with a random one. */
async function restartEngines(drill: Drill, writers: Writer[], done: Kill[]): Promise<EngineRestart[]> {
  const { engine, book, log, engineRestarts: wanted } = drill
  const chance = drill.chance.fork()
  const turns = chance.isTrue(0.5) ? (['stopped', 'killed'] as const) : (['killed', 'stopped'] as const)
  const restarts: EngineRestart[] = []
  const look = inspectTargetOf(drill)
  for (let number = 1; number <= wanted; number++) {
    const afterKills = Math.floor((drill.kills * number) / (wanted + 1))
    while (done.length < afterKills) await sleep(50)
    await sleep(chance.between(0, 3000))
    const how = turns[number % turns.length]!
    restarts.push(await restartEngine({ engine, book, writers, chance, number, how, look }))
    log(engineRestartLine(restarts.at(-1)!))
  }
  return restarts
}

function inspectTargetOf({ victim: { prefix }, prepared, engine: { path } }: Drill): InspectTarget {
  return { prefix, prepared, path }
}

async function stopInOrder({ victim, book: { ledger } }: Drill): Promise<void> {
  const code = await victim.stop()
  if (code !== 0) ledger.addViolation('the daemon stops on SIGTERM', `it exited with code ${code}`)
  for (const line of processesOf(victim.dataDir)) ledger.addViolation('no process is left', line)
}

/** Deletes everything through the API; returns what then remains in Docker and on disk. */
async function removeAll({ victim, book }: Drill): Promise<string[]> {
  victim.start()
  for (const entry of living(book)) await remove(book, entry)
  await victim.stop()
  await checkStored(victim.dataDir, book)
  const { containers, volumes } = await findLeftovers(victim.prefix)
  const leftovers = [...containers, ...volumes]
  for (const name of leftovers) book.ledger.addViolation('nothing is left after deleting everything', name)
  return leftovers
}

/** Any error in the daemon's log is a violation, even if everything ended well. */
function readDaemonLog({ victim: { log }, book: { ledger } }: Drill): void {
  const errors = log.filter((line) => /^\{"level":"?(50|60|error|fatal)/.test(line))
  for (const line of errors) ledger.addViolation('the daemon logs no error', line)
}

function figuresOf({ entry: { kind }, way, sent, acknowledged, breaks }: Writer) {
  return { kind, way, sent: sent.size, acknowledged: acknowledged.length, breaks: breaks.length }
}

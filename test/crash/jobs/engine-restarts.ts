// Stops or kills Docker, leaves it down for a while and starts it again, spread over the kills. Stops and
// kills alternate, starting with a random one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { NamespaceEngine } from '../../support/docker/namespace-engine.ts'
import type { Chance } from '../random.ts'
import { runOf, startRun } from './actions.ts'
import { type Book, type JobService, openRuns } from './book.ts'
import { taskOf } from './tasks.ts'

export interface EngineRestart {
  number: number
  how: 'stopped' | 'killed'
  /** Runs that were active at that time. */
  openRuns: number
  /** How long its socket was unavailable. */
  awayMs: number
  /** From its end until a run that was requested then had finished. */
  recoveryMs: number
}

export interface RestartRequest {
  engine: NamespaceEngine
  book: Book
  tools: JobService
  chance: Chance
  count: number
  /** The planned number of kills. */
  kills: number
  /** The number of kills so far. */
  killsDone: () => number
  log: (line: string) => void
}

const longestAwayMs = 6000
const recoveryMs = 150_000

export async function restartEngines(requested: RestartRequest): Promise<EngineRestart[]> {
  const { chance, count, kills, killsDone, log } = requested
  const turns = chance.isTrue(0.5) ? (['stopped', 'killed'] as const) : (['killed', 'stopped'] as const)
  const restarts: EngineRestart[] = []
  while (restarts.length < count) {
    const number = restarts.length + 1
    const afterKills = Math.floor((kills * number) / (count + 1))
    while (killsDone() < afterKills) await sleep(50)
    await sleep(chance.between(0, 3000))
    const restart = await restartEngine(requested, number, turns[number % turns.length]!)
    restarts.push(restart)
    log(engineRestartLine(restart))
  }
  return restarts
}

async function restartEngine(
  { engine, book, tools, chance }: RestartRequest,
  number: number,
  how: EngineRestart['how'],
): Promise<EngineRestart> {
  const incident = book.incidents.begin('engine')
  const open = openRuns(book).size
  await (how === 'stopped' ? engine.stop() : engine.kill())
  const { id } = await startRun(book, tools, runOf(taskOf('quick', chance), book))
  await sleep(chance.between(0, longestAwayMs))
  await engine.start()
  const backAt = performance.now()
  book.incidents.end(incident)
  while (openRuns(book).has(id) && performance.now() - backAt < recoveryMs) await sleep(50)
  if (openRuns(book).has(id))
    book.ledger.addViolation(
      'runs go on after a restart of Docker',
      `${id} is not over ${recoveryMs / 1000} s after`,
    )
  const overAt = performance.now()
  const [awayMs, tookMs] = [backAt - incident.from, overAt - backAt].map(Math.round)
  return { number, how, openRuns: open, awayMs: awayMs!, recoveryMs: tookMs! }
}

export function engineRestartLine({ number, how, openRuns: open, ...times }: EngineRestart): string {
  const [away, recovery] = [times.awayMs, times.recoveryMs].map((ms) => `${(ms / 1000).toFixed(1)} s`)
  const under = `Docker ${number} ${how.padEnd(8)} under ${open} runs`
  return `${under}, away ${away}, a run was over ${recovery} later`
}

// What a deploy's log and history tell of its outcome: where the time went, and what was written last.
import type { Deploy } from '../../http/schemas/deploy.ts'
import { deployPath } from '../client.ts'
import { followEvents } from '../event-stream.ts'
import { parseLogLine } from '../log-line.ts'
import type { Cli } from '../session.ts'
import { type DeployState, statesOf } from './moments.ts'
import { createExcerpt, type Excerpt } from './telling-line.ts'

export interface PhaseTime {
  name: string
  durationMs: number
  /** Whether the deploy ended in it, against its will. */
  hasFailed: boolean
}

export interface Diagnosis {
  phases: PhaseTime[]
  /** Of the build: `RUN npm run build`. Null where no step of a build failed. */
  failedStep: string | null
  /** The line before `lines` that names the error; null where there is none, or it is among them. */
  errorLine: string | null
  /** What the failed step or the instance wrote last, else the log's last lines. */
  lines: string[]
}

interface Step {
  name: string
  excerpt: Excerpt
}

const keptLines = 15
const setbacks = ['failing', 'canceling']

export async function diagnose(cli: Cli, deploy: Deploy): Promise<Diagnosis> {
  const phases = phasesOf(await statesOf(cli, deploy.id), Date.now())
  return { phases, ...(await readLog(cli, deploy.id)) }
}

/** Until it was live, or had failed; one that is not over has its last phase until now. */
export function phasesOf(states: DeployState[], now: number): PhaseTime[] {
  return states.flatMap(({ name, at, status }, index) => {
    if (status !== 'queued' && status !== 'running') return []
    const next = states[index + 1]
    const durationMs = Math.max(0, (next ? Date.parse(next.at) : now) - Date.parse(at))
    return [{ name, durationMs, hasFailed: next !== undefined && setbacks.includes(next.name) }]
  })
}

/** As far as it goes now. Of a long log only the last lines are kept, of each step of the build too. */
async function readLog(cli: Cli, deployId: string): Promise<Omit<Diagnosis, 'phases'>> {
  const steps = new Map<string, Step>()
  const all = createExcerpt(keptLines)
  // What is written between two words of Berth's own, such as the last lines of one instance.
  let burst = createExcerpt(keptLines)
  let isBurstOver = false
  let failed: Step | null = null
  for await (const { data } of followEvents(cli, `${deployPath(deployId)}/logs`, { untilNow: true })) {
    const { stream, line } = parseLogLine(data)
    all.add(line)
    const [, number, text] = /^#(\d+) (.*)$/.exec(line) ?? []
    if (number === undefined || text === undefined) {
      if (stream !== 'system' && isBurstOver) burst = createExcerpt(keptLines)
      if (stream !== 'system') burst.add(line)
      isBurstOver = stream === 'system'
      continue
    }
    const step = steps.get(number)
    if (!step) steps.set(number, { name: text, excerpt: createExcerpt(keptLines) })
    else if (text.startsWith('ERROR: ')) failed ??= step
    else step.excerpt.add(text)
  }
  const found = failed as Step | null
  const last = burst.lines().length > 0 ? burst : all
  const { missed, lines } = found?.excerpt ?? last
  return { failedStep: found?.name ?? null, errorLine: missed(), lines: lines() }
}

// What a deploy's log and history tell of its outcome: where the time went, and what was written last.
import type { Deploy } from '../../http/schemas/deploy.ts'
import { deployPath } from '../client.ts'
import { followEvents } from '../event-stream.ts'
import { parseLogLine } from '../log-line.ts'
import type { Cli } from '../session.ts'
import { type DeployState, statesOf } from './moments.ts'

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
  /** What the failed step or the instance wrote last, else the log's last lines. */
  lines: string[]
}

interface Step {
  name: string
  lines: string[]
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
  const written: string[] = []
  const all: string[] = []
  let failed: Step | null = null
  for await (const { data } of followEvents(cli, `${deployPath(deployId)}/logs`, { untilNow: true })) {
    const { stream, line } = parseLogLine(data)
    keep(all, line)
    const [, number, text] = /^#(\d+) (.*)$/.exec(line) ?? []
    if (number === undefined || text === undefined) {
      if (stream !== 'system') keep(written, line)
      continue
    }
    const step = steps.get(number)
    if (!step) steps.set(number, { name: text, lines: [] })
    else if (text.startsWith('ERROR: ')) failed ??= step
    else keep(step.lines, text)
  }
  const found = failed as Step | null
  if (found) return { failedStep: found.name, lines: found.lines }
  return { failedStep: null, lines: written.length > 0 ? written : all }
}

function keep(lines: string[], line: string): void {
  lines.push(line)
  if (lines.length > keptLines) lines.shift()
}

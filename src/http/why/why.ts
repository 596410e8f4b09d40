// Explains an outcome: the failed step with its last log lines, and the phases, from log and history.
import type { HistoryEntry } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { LogLine } from '../../../storage/log/logs.ts'
import type { Why } from '../../api/parts/failure.ts'
import type { BuildStep } from '../../docker/build/build-log.ts'
import { createExcerpt, type Excerpt } from '../../error-line.ts'
import type { Advice, FailedRecord } from './advice.ts'

export interface ExplainedRecord extends FailedRecord {
  id: string
  status: string
  error: string | null
  phase?: string | null
}

/** The number of log lines that are read. A failed step writes its last lines near the end. */
const tailLines = 500

type Excerpted = Pick<Why, 'failed_step' | 'error_line' | 'lines'>

interface Step {
  name: string
  excerpt: Excerpt
}

const excerptLines = 15
const failureStates = ['failing', 'failed', 'canceling', 'canceled', 'undoing', 'discarding']
const busyStatuses = ['queued', 'pending', 'running', 'creating', 'restarting', 'undoing']

const noExcerpt: Excerpted = { failed_step: null, error_line: null, lines: [] }

export async function explain(
  { actors, logs }: Pick<Storage, 'actors' | 'logs'>,
  record: ExplainedRecord,
  { advice, hasLog }: { advice: Advice | null; hasLog: boolean },
): Promise<Why> {
  const { id, status, phase = null, error, error_code: code = null, error_details: details = null } = record
  const isRead = hasLog && error !== null
  const excerpt = isRead ? excerptOf(await logs.tail(id, tailLines)) : noExcerpt
  return {
    id,
    status,
    phase,
    reason: error,
    code: code as Why['code'],
    details,
    ...excerpt,
    hint: advice?.hint ?? null,
    commands: advice?.commands ?? [],
    phases: phasesOf(actors.history(id), Date.now()),
  }
}

/** The last lines of the failed build step, else of the last program that wrote, else of the log. */
export function excerptOf(log: readonly LogLine[]): Excerpted {
  const steps = new Map<number, Step>()
  const all = createExcerpt(excerptLines)
  let burst = createExcerpt(excerptLines)
  let isBurstOver = false
  let failed: Step | null = null
  for (const { stream, line, about } of log) {
    // The response already contains the outcome as its reason.
    if (about?.mark === 'outcome') continue
    all.add(line)
    const part = about?.step as BuildStep | undefined
    if (part === undefined) {
      if (stream !== 'system' && isBurstOver) burst = createExcerpt(excerptLines)
      if (stream !== 'system') burst.add(line)
      isBurstOver = stream === 'system'
      continue
    }
    const step = steps.get(part.number) ?? { name: part.name ?? '', excerpt: createExcerpt(excerptLines) }
    steps.set(part.number, step)
    if (part.state === 'failed') failed ??= step
    else if (part.state === undefined) step.excerpt.add(withoutNumber(line, part.number))
  }
  const found = failed as Step | null
  const excerpt = found?.excerpt ?? (burst.lines().length > 0 ? burst : all)
  return { failed_step: found?.name || null, error_line: excerpt.earlierError(), lines: excerpt.lines() }
}

/** BuildKit's lines start with the number of their step. */
function withoutNumber(line: string, number: number): string {
  const prefix = `#${number} `
  return line.startsWith(prefix) ? line.slice(prefix.length) : line
}

/** The phases until the outcome. Transitions within a state extend its phase. */
export function phasesOf(history: readonly HistoryEntry[], nowMs: number): Why['phases'] {
  const states = history.map(({ at, state, status }) => ({ at, name: state.split('.').at(-1)!, status }))
  const changes = states.filter(({ name }, index) => name !== states[index - 1]?.name)
  return changes.flatMap(({ name, at, status }, index) => {
    if (!busyStatuses.includes(status) || failureStates.includes(name)) return []
    const next = changes[index + 1]
    const endMs = next ? Date.parse(next.at) : nowMs
    return [
      {
        name,
        duration_ms: Math.max(0, endMs - Date.parse(at)),
        failed: next !== undefined && failureStates.includes(next.name),
      },
    ]
  })
}

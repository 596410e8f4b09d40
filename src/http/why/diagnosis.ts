// Derives the failed step, its last log lines and the phases from a log and a history.
import type { HistoryEntry } from '../../../storage/actors/actors.ts'
import type { LogLine } from '../../../storage/log/logs.ts'
import type { Why } from '../../api/parts/failure.ts'
import type { BuildStep } from '../../docker/build/build-log.ts'
import { createExcerpt, type Excerpt } from '../../error-line.ts'

type Excerpted = Pick<Why, 'failed_step' | 'error_line' | 'lines'>

interface Step {
  name: string
  excerpt: Excerpt
}

const excerptLines = 15
const failureStates = ['failing', 'failed', 'canceling', 'canceled', 'undoing', 'discarding']
const busyStatuses = ['queued', 'pending', 'running', 'creating', 'restarting', 'undoing']

export const noExcerpt: Excerpted = { failed_step: null, error_line: null, lines: [] }

/**
 * The last lines of the failed build step; otherwise the last uninterrupted output of a program; otherwise
 * the last lines of the log.
 */
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

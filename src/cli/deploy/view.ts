// A live view of a deploy: a line per state, and the newest log lines. Only a terminal redraws them.
import { createExcerpt, type Excerpt } from '../../error-line.ts'
import { count } from '../../quantities.ts'
import type { LogLine } from '../client/event-stream.ts'
import { type Output, plain } from '../terminal/output.ts'
import { phaseLine, windowLine } from '../terminal/phase-line.ts'
import type { DeployState } from './deploy-events.ts'

export interface DeployView {
  enter(state: DeployState): void
  addLine(line: LogLine): void
}

interface RunningState {
  name: string
  at: number
  note: string
  excerpt: Excerpt
  tally: ReturnType<typeof createBuildTally>
  /** Without a live terminal: whether the name of the state is already printed above its lines. */
  hasHeading: boolean
}

const windowLines = 6
const failureLines = 10
const unwindingStates = ['failing', 'canceling']
/** States without a line: they are reported at the end. */
const hiddenStates = [...unwindingStates, 'live', 'draining', 'deactivated', 'failed', 'canceled']
/** Waiting for the turn gets a line only if there was something to wait for. */
const minShownWaitMs = 1000

/** `now` is the clock of the shown durations. */
export function createDeployView(out: Output, now: () => number): DeployView {
  let running = enterState('queued', now())
  let isFirst = true

  function draw(spinner: string): string[] {
    if (hiddenStates.includes(running.name)) return []
    const durationMs = Math.max(0, now() - running.at)
    const { name, tally, note } = running
    const detail = tally.current() ?? note
    const line = phaseLine(out, { mark: spinner, name, detail, durationMs })
    return [
      line,
      ...running.excerpt
        .lines()
        .slice(-windowLines)
        .map((text) => windowLine(out, text)),
    ]
  }

  function leave(next: DeployState): void {
    const durationMs = Date.parse(next.at) - running.at
    const hasFailed = unwindingStates.includes(next.name)
    if (hiddenStates.includes(running.name)) return
    if (running.name === 'queued' && durationMs < minShownWaitMs && !hasFailed) return
    const { name, note, tally, hasHeading } = running
    // Below a heading, the lines already contain the note.
    const detail = tally.summary() ?? (hasHeading ? '' : note)
    out.say(phaseLine(out, { mark: hasFailed ? '✘' : '✔', name, detail, durationMs }))
    if (hasFailed && out.isLive) for (const line of shownOf(running)) out.say(windowLine(out, line))
  }

  out.animate(draw)
  return {
    enter(state) {
      if (!isFirst) leave(state)
      isFirst = false
      running = enterState(state.name, Date.parse(state.at))
    },
    addLine(line) {
      if (hiddenStates.includes(running.name)) return
      running.tally.addLine(line)
      if (isOutput(line)) running.excerpt.add(line.line)
      else running.note = line.brief ?? line.line
      if (!out.isLive) printLine(out, running, line)
    },
  }
}

function enterState(name: string, at: number): RunningState {
  return {
    name,
    at,
    note: '',
    excerpt: createExcerpt(failureLines),
    tally: createBuildTally(),
    hasHeading: false,
  }
}

function shownOf({ excerpt }: RunningState): string[] {
  const missed = excerpt.earlierError()
  return missed === null ? excerpt.lines() : [missed, '…', ...excerpt.lines()]
}

function printLine(out: Output, running: RunningState, { line }: LogLine): void {
  if (!running.hasHeading) out.say(` · ${plain(running.name)}`)
  running.hasHeading = true
  out.say(windowLine(out, line))
}

/** Output of programs and builder steps; all other lines are Berth's own progress messages. */
function isOutput({ stream, step }: LogLine): boolean {
  return stream !== 'system' || step !== undefined
}

interface BuildTally {
  addLine(line: Pick<LogLine, 'step'>): void
  /** The newest step, `[3/5] RUN make`; null before the first. */
  current(): string | null
  /** `14 steps, 11 cached`; null before the first step. */
  summary(): string | null
}

/** BuildKit's internal work, such as `[internal] load build definition`, is not a step of the Dockerfile. */
const dockerfileStep = /^\[(\S+ )?\s*\d+\/\d+\] /

export function createBuildTally(): BuildTally {
  const steps = new Set<number>()
  const cached = new Set<number>()
  let newest: string | null = null

  return {
    addLine({ step }) {
      if (!step) return
      const { number, state, name = '' } = step
      if (state === 'started' && dockerfileStep.test(name)) {
        newest = name
        steps.add(number)
      }
      if (state === 'cached' && steps.has(number)) cached.add(number)
    },
    current: () => newest,
    summary() {
      if (steps.size === 0) return null
      return cached.size > 0
        ? `${count(steps.size, 'step')}, ${cached.size} cached`
        : count(steps.size, 'step')
    },
  }
}

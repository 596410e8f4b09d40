// Shows a deploy while it happens: a line for each state of its chart, the log of the build below its line.
// On a terminal the running state moves, with the last lines of the log; elsewhere each line is written once.
import type { Api } from '../support/api.ts'
import { holdMs, type State, watchDeploy } from './deploy-moments.ts'
import { count, logLine, phaseLine } from './lines.ts'
import type { Terminal } from './terminal.ts'
import { Trouble } from './trouble.ts'

export interface ShownDeploy {
  deployId: string
  /** What the deploy is called when it fails: `the first deploy`. */
  title: string
  /** On a terminal: whether the log of the build stays when it is done. */
  keepLog: boolean
  /** A line below the moving ones. */
  footnote?: () => string
}

interface Running extends State {
  /** The last line of its log, which says what it is at. */
  note: string
  buildLines: string[]
}

const windowLines = 6
const setbacks = ['failing', 'canceling']
/** These have no line of their own: they wait, they clean up, or they are told when all is over. */
const silent = ['queued', ...setbacks, 'live', 'failed', 'canceled']

/** Resolves with its states when it is live; throws `Trouble` when it comes to another end. */
export async function showDeploy(
  terminal: Terminal,
  api: Api,
  shown: ShownDeploy,
  signal: AbortSignal,
): Promise<State[]> {
  const states: State[] = []
  let running: Running = { name: 'queued', at: new Date().toISOString(), note: '', buildLines: [] }
  const draw = (spinner: string) => moving(terminal, running, spinner, shown.footnote)
  terminal.animate(draw)
  try {
    for await (const moment of watchDeploy(api, shown.deployId, signal)) {
      if ('line' in moment) hear(terminal, running, moment.line)
      else {
        states.push(moment.state)
        const isSetback = setbacks.includes(moment.state.name)
        if (isSetback) await showSetback(terminal, api, running, moment.state, shown)
        else if (states.length > 1) showEnd(terminal, running, moment.state, shown)
        running = { ...moment.state, note: '', buildLines: [] }
      }
    }
  } finally {
    terminal.rest()
  }
  if (states.at(-1)?.name === 'live') return states
  return refuse(api, shown)
}

function hear(terminal: Terminal, running: Running, line: string): void {
  if (!isOfBuild(line)) {
    running.note = line
    return
  }
  running.buildLines.push(line)
  if (terminal.isLive) return
  if (running.buildLines.length === 1) terminal.print(` · ${running.name}`)
  terminal.print(logLine(terminal, line))
}

function moving(terminal: Terminal, running: Running, spinner: string, footnote?: () => string): string[] {
  const durationMs = Math.max(0, Date.now() - holdMs - Date.parse(running.at))
  const phase = phaseLine(terminal, { mark: spinner, name: running.name, detail: running.note, durationMs })
  const log = running.buildLines.slice(-windowLines).map((line) => logLine(terminal, line))
  return [phase, ...log, ...(footnote ? [terminal.paint('dim', `   ${footnote()}`)] : [])]
}

/** The line of a state that is over. */
function showEnd(terminal: Terminal, running: Running, next: State, { keepLog }: ShownDeploy): void {
  if (silent.includes(running.name)) return
  const durationMs = Date.parse(next.at) - Date.parse(running.at)
  const detail = running.buildLines.length > 0 ? summaryOf(running.buildLines) : running.note
  terminal.print(phaseLine(terminal, { mark: '✔', name: running.name, detail, durationMs }))
  if (!terminal.isLive || !keepLog) return
  for (const line of running.buildLines) terminal.print(logLine(terminal, line))
}

async function showSetback(
  terminal: Terminal,
  api: Api,
  running: Running,
  next: State,
  { deployId }: ShownDeploy,
) {
  const { error } = await api.get(`/deploys/${deployId}`)
  const durationMs = Date.parse(next.at) - Date.parse(running.at)
  terminal.print(phaseLine(terminal, { mark: '✘', name: running.name, detail: error ?? '', durationMs }))
  if (terminal.isLive) for (const line of running.buildLines) terminal.print(logLine(terminal, line))
}

async function refuse(api: Api, { deployId, title }: ShownDeploy): Promise<never> {
  const { error } = await api.get(`/deploys/${deployId}`)
  throw new Trouble(
    `${title} did not go live`,
    error ?? 'it says no reason',
    'the lines above show how far it came',
  )
}

/** BuildKit numbers its steps: `#6 [3/3] COPY . .`, and ends each with DONE or CACHED. */
function isOfBuild(line: string): boolean {
  return /^#\d+ /.test(line)
}

function summaryOf(lines: string[]): string {
  const steps = lines.filter((line) => /^#\d+ \[\d+\/\d+\]/.test(line)).length
  const cached = lines.filter((line) => /^#\d+ CACHED$/.test(line)).length
  return cached > 0 ? `${count(steps, 'step')}, ${cached} cached` : count(steps, 'step')
}

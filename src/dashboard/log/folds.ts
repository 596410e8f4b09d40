// The rows of a log: its lines under the heads of their phases, and the steps of a build under their first
// line. A closed part shows only its head. Lines keep their order, so their numbers rise down the page.
import { indexAtOrBefore, type Line } from './lines.ts'

/** A phase of a deploy or a job run. */
export interface Fold {
  id: string
  title: string
  startedAt: string
  endedAt: string | null
  state: 'done' | 'current' | 'failed'
}

export interface Head {
  fold: Fold
  /** The number of its first line. */
  number: number
  isOpen: boolean
  lines: number
  steps: Set<number>
  cached: Set<number>
}

/** Lines of one step of a build that follow each other. */
export interface Run {
  id: string
  isOpen: boolean
  /** Without its first line. */
  lines: number
  lastAt: number
}

export type Row = Line | Head

export interface FoldOptions {
  folds: readonly Fold[]
  /** What the reader has opened and closed. */
  chosen: ReadonlyMap<string, boolean>
  isShown: (line: Line) => boolean
}

export function isHead(row: Row): row is Head {
  return 'fold' in row
}

/** BuildKit's internal work is not a step of the Dockerfile. */
const dockerfileStep = /^\[(\S+ )?\s*\d+\/\d+\] /

export class FoldedRows {
  readonly rows: Row[] = []
  readonly #options: FoldOptions
  readonly #runs = new Map<number, Run>()
  readonly #settled: Set<number>
  #phase = -1
  #head: Head | null = null
  /** The line that begins the current run. */
  #first: Line | null = null
  #isStale = false
  #widest = 0
  /** Whether the last row is the head of a phase without lines. */
  #isWaiting = false

  /** `settled` are the steps of the build that are known to have succeeded; it is kept for the next rows. */
  constructor(options: FoldOptions, settled = new Set<number>()) {
    this.#options = options
    this.#settled = settled
  }

  /** Whether a later line has changed how earlier ones are shown. */
  get isStale(): boolean {
    return this.#isStale
  }

  /** In columns. */
  get widest(): number {
    return this.#widest
  }

  get hasRuns(): boolean {
    return this.#runs.size > 0
  }

  /** The run of steps that this line begins. */
  runAt(line: Line): Run | undefined {
    return this.#runs.get(line.number)
  }

  /** The row of a line, or the head that hides it; -1 before the first row. */
  indexOf(number: number): number {
    return indexAtOrBefore(this.rows, number)
  }

  add(lines: readonly Line[], from: number): void {
    if (this.#isWaiting) this.rows.pop()
    this.#isWaiting = false
    for (let index = from; index < lines.length; index++) this.#addLine(lines[index]!)
    const last = this.#options.folds.at(-1)
    if (last?.state !== 'current' || this.#phase === this.#options.folds.length - 1) return
    this.rows.push(this.#createHead(last, (lines.at(-1)?.number ?? 0) + 1))
    this.#isWaiting = true
  }

  #addLine(line: Line): void {
    this.#settle(line)
    if (!this.#options.isShown(line)) return
    if (line.cells > this.#widest) this.#widest = line.cells
    this.#enterPhase(line)
    const head = this.#head
    if (head) count(head, line)
    if (head && !head.isOpen) return
    if (this.#isInRun(line)) this.rows.push(line)
  }

  /** False if the run that the line belongs to is closed. */
  #isInRun(line: Line): boolean {
    const first = this.#first
    if (!line.step || first?.step?.number !== line.step.number) {
      this.#first = line
      return true
    }
    const run = this.#runs.get(first.number) ?? this.#createRun(first)
    run.lines += 1
    run.lastAt = line.at
    return run.isOpen
  }

  #createRun(first: Line): Run {
    const id = `step ${first.number}`
    const isOpenByItself = this.#head?.fold.state !== 'done' && !this.#isClosedStep(first.step!.number)
    const isOpen = this.#options.chosen.get(id) ?? isOpenByItself
    const run = { id, isOpen, lines: 0, lastAt: first.at }
    this.#runs.set(first.number, run)
    return run
  }

  /** In a failed phase, only what did not succeed is open. */
  #isClosedStep(number: number): boolean {
    return this.#head?.fold.state === 'failed' && this.#settled.has(number)
  }

  #settle({ step }: Line): void {
    if ((step?.state !== 'done' && step?.state !== 'cached') || this.#settled.has(step.number)) return
    this.#settled.add(step.number)
    if (this.#head?.fold.state === 'failed') this.#isStale = true
  }

  /** On a tie, a line comes before the transition. */
  #enterPhase(line: Line): void {
    const { folds } = this.#options
    let phase = Math.max(0, this.#phase)
    while (phase + 1 < folds.length && line.at > Date.parse(folds[phase + 1]!.startedAt)) phase++
    const fold = folds[phase]
    if (!fold || phase === this.#phase) return
    this.#phase = phase
    this.#head = this.#createHead(fold, line.number)
    this.#first = null
    this.rows.push(this.#head)
  }

  #createHead(fold: Fold, number: number): Head {
    const isOpen = this.#options.chosen.get(fold.id) ?? fold.state !== 'done'
    return { fold, number, isOpen, lines: 0, steps: new Set(), cached: new Set() }
  }
}

function count(head: Head, { step }: Line): void {
  head.lines += 1
  if (!step) return
  if (step.state === 'started' && dockerfileStep.test(step.name ?? '')) head.steps.add(step.number)
  if (step.state === 'cached' && head.steps.has(step.number)) head.cached.add(step.number)
}

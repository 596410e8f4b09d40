// The rows of a log: phases, and the steps of a build.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fold, FoldedRows, isHead } from '../../src/dashboard/log/folds.ts'
import { type Line, toLine } from '../../src/dashboard/log/lines.ts'

const timeAt = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

function foldOf(id: string, from: number, to: number | null, state: Fold['state']): Fold {
  return { id, title: id, startedAt: timeAt(from), endedAt: to === null ? null : timeAt(to), state }
}

function lineOf(number: number, second: number, step?: Line['step']): Line {
  return toLine(number, {
    ts: timeAt(second),
    stream: 'stdout',
    line: `line ${number}`,
    ...(step && { step }),
  })
}

interface Shown {
  folds?: Fold[]
  chosen?: [string, boolean][]
  isShown?: (line: Line) => boolean
}

/** Rows as words: `▾building 3`, `▸fetching 2`, and the numbers of lines. */
function rowsOf(lines: Line[], { folds = [], chosen = [], isShown = () => true }: Shown) {
  const settled = new Set<number>()
  const make = () => {
    const folded = new FoldedRows({ folds, chosen: new Map(chosen), isShown }, settled)
    folded.add(lines, 0)
    return folded
  }
  const first = make()
  const folded = first.isStale ? make() : first
  assert.equal(folded.isStale, false)
  const words = folded.rows.map((row) => {
    if (isHead(row)) return `${row.isOpen ? '▾' : '▸'}${row.fold.id} ${row.lines}`
    const run = folded.runAt(row)
    return run ? `${row.number}${run.isOpen ? '▾' : '▸'}${run.lines}` : `${row.number}`
  })
  return { folded, words: words.join(', ') }
}

const phases = [
  foldOf('fetching', 0, 10, 'done'),
  foldOf('building', 10, 20, 'failed'),
  foldOf('checking', 20, null, 'current'),
]

test('a finished phase is closed, a failed one and the running one are open', () => {
  const lines = [lineOf(1, 1), lineOf(2, 5), lineOf(3, 11), lineOf(4, 21), lineOf(5, 30)]
  assert.equal(rowsOf(lines, { folds: phases }).words, '▸fetching 2, ▾building 1, 3, ▾checking 2, 4, 5')
})

test('on a tie a line comes before the transition, and a phase without lines has no head', () => {
  assert.equal(rowsOf([lineOf(1, 10)], { folds: phases.slice(0, 2) }).words, '▸fetching 1')
})

test('the running phase has a head before its first line', () => {
  const { folded, words } = rowsOf([lineOf(1, 11)], { folds: phases })
  assert.equal(words, '▾building 1, 1, ▾checking 0')
  const lines = [lineOf(1, 11), lineOf(2, 12), lineOf(3, 21)]
  folded.add(lines, 1)
  assert.deepEqual(
    folded.rows.map((row) => (isHead(row) ? row.fold.id : row.number)),
    ['building', 1, 2, 'checking', 3],
  )
})

test('what the reader opened and closed stays so', () => {
  const lines = [lineOf(1, 1), lineOf(2, 11)]
  const chosen: [string, boolean][] = [
    ['fetching', true],
    ['building', false],
  ]
  assert.equal(rowsOf(lines, { folds: phases.slice(0, 2), chosen }).words, '▾fetching 1, 1, ▸building 1')
})

const build = [
  lineOf(1, 11, { number: 1, state: 'started', name: '[1/2] FROM node' }),
  lineOf(2, 11, { number: 1, state: 'cached' }),
  lineOf(3, 12, { number: 2, state: 'started', name: '[2/2] RUN make' }),
  lineOf(4, 13, { number: 2 }),
  lineOf(5, 14, { number: 2, state: 'failed' }),
  lineOf(6, 14),
]

test('in a failed phase only the steps that did not succeed are open', () => {
  const { folded, words } = rowsOf(build, { folds: phases.slice(0, 2) })
  assert.equal(words, '▾building 6, 1▸1, 3▾2, 4, 5, 6')
  const [head] = folded.rows.filter(isHead)
  assert.deepEqual([head!.steps.size, head!.cached.size], [2, 1])
})

test('a build that runs shows all of its lines; a finished one that is opened shows its steps', () => {
  const running = foldOf('building', 10, null, 'current')
  assert.equal(rowsOf(build, { folds: [running] }).words, '▾building 6, 1▾1, 2, 3▾2, 4, 5, 6')
  const done = {
    folds: [foldOf('building', 10, 20, 'done')],
    chosen: [['building', true]] as [string, boolean][],
  }
  assert.equal(rowsOf(build, done).words, '▾building 6, 1▸1, 3▸2, 6')
})

test('a step that was interrupted by another one keeps the order of its lines', () => {
  const lines = [1, 1, 2, 2, 1].map((number, index) => lineOf(index + 1, 11, { number }))
  assert.equal(rowsOf(lines, {}).words, '1▾1, 2, 3▾1, 4, 5')
})

test('a line that is hidden has the row of what hides it', () => {
  const { folded } = rowsOf([lineOf(1, 1), lineOf(2, 2), ...[3, 4].map((number) => lineOf(number, 12))], {
    folds: phases.slice(0, 2),
  })
  assert.deepEqual(
    [1, 2, 3, 4].map((number) => folded.indexOf(number)),
    [0, 0, 2, 3],
  )
})

test('a filter leaves no head without lines', () => {
  const lines = [lineOf(1, 1), lineOf(2, 11)]
  assert.equal(
    rowsOf(lines, { folds: phases.slice(0, 2), isShown: ({ number }) => number > 1 }).words,
    '▾building 1, 2',
  )
})

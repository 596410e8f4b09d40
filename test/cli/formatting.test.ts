// The small parts that every screen is made of.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { warningLines } from '../../src/cli/deploy/labels.ts'
import { clockTime, dayAndTime } from '../../src/cli/job/instants.ts'
import { age, span, timeLeft } from '../../src/cli/terminal/ages.ts'
import { coloured, type Output, openOutput, plain } from '../../src/cli/terminal/output.ts'
import { type Column, tableLines } from '../../src/cli/terminal/table.ts'

const introducer = '\u001b'

test('a plain line is one line without control characters, for any input', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(plain(`${introducer}[${text}${introducer}]${text}`), /[\p{Cc}\u2028\u202e]/u)
    }),
  )
  assert.equal(plain(`a\tb\nc${introducer}[31mred${introducer}[0m ünï 🚀`), 'a  b cred ünï 🚀')
})

test('a coloured line keeps its colours, resets them, and has no other control characters', () => {
  const text = `${introducer}[1;32mok${introducer}[2J${introducer}[5A\u0007\rdone`
  assert.equal(coloured(text), `${introducer}[1;32mokdone${introducer}[0m`)
  assert.equal(coloured('no colours'), 'no colours')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (unusual) => {
      const without = coloured(unusual).replaceAll(new RegExp(`${introducer}\\[[\\d;:]*m`, 'g'), '')
      assert.doesNotMatch(without, /\p{Cc}/u)
    }),
  )
})

test('ages and durations have one or two units', () => {
  const now = Date.parse('2025-03-01T12:00:00.000Z')
  const ages = ['11:59:58', '11:59:15', '11:58:30', '11:20:00', '10:45:00'].map((time) =>
    age(`2025-03-01T${time}.000Z`, now),
  )
  assert.deepEqual(ages, ['just now', '45s ago', '1m 30s ago', '40m ago', '1h 15m ago'])
  assert.equal(age(null), 'never')
  assert.deepEqual([0, 59, 86_400, 90_000, 400_000].map(span), ['0s', '59s', '1d', '1d 1h', '4d'])
})

test('a remaining time is rounded: just under 7 days is shown as 7 days', () => {
  const now = Date.parse('2025-03-01T12:00:00.000Z')
  const left = (seconds: number) => timeLeft(new Date(now + seconds * 1000).toISOString(), now)
  const day = 86_400
  assert.deepEqual(
    [7 * day - 1, 6.4 * day, 3 * day - 1, 2 * day - 7200, day - 1, 7199, 90, 0.4, -5].map(left),
    ['7d', '6d', '3d', '1d 22h', '1d', '2h', '2m', '0s', '0s'],
  )
})

test('a table cuts its flexible column on a narrow terminal, and nothing without a terminal', async () => {
  const stream = (isTTY: boolean) => ({ isTTY, columns: 40 }) as NodeJS.WriteStream
  const outputOn = (isTTY: boolean) =>
    openOutput({
      stdin: process.stdin,
      stdout: stream(isTTY),
      stderr: stream(isTTY),
      env: { NO_COLOR: '1' },
      isJson: false,
    })
  const rows = [{ id: 'dep-01jzx3v8m2q4t6w8y0a2c4e6g8', words: '漢字'.repeat(12) }]
  const columns: Column<(typeof rows)[number]>[] = [
    { heading: 'ID', text: ({ id }) => id.slice(0, 10) },
    { heading: 'WORDS', text: ({ words }) => words, isFlexible: true },
  ]

  assert.deepEqual(tableLines(outputOn(true), rows, columns), [
    'ID          WORDS',
    `dep-01jzx3  ${'漢字'.repeat(6)}漢…`,
  ])
  const [, whole] = tableLines(outputOn(false), rows, columns)
  assert.equal(whole, `dep-01jzx3  ${'漢字'.repeat(12)}`)
})

test('a table aligns wide letters, emoji and colours by their columns', () => {
  const paint = (_: unknown, text: string) => `\x1b[31m${text}\x1b[39m`
  const out = { isTerminal: true, width: () => 80, paint } as unknown as Output
  const columns: Column<string[]>[] = [
    { heading: 'A', text: ([text]) => text!, style: () => 'red' },
    { heading: 'B', text: ([, text]) => text!, isRight: true },
    { heading: 'C', text: ([, , text]) => text! },
  ]
  const rows = [
    ['漢字', '12', 'x'],
    ['👍', '3', ''],
  ]

  assert.deepEqual(tableLines(out, rows, columns), [
    `${paint('', 'A')}      ${paint('', 'B')}  ${paint('', 'C')}`,
    `${paint('', '漢字')}  12  x`,
    `${paint('', '👍')}     3`,
  ])
})

test('the command that adds a disk can be copied into a shell', () => {
  const commandFor = (path: string) =>
    warningLines((_, text) => text, 'web', { warnings: [{ code: 'volume_without_disk', path }] }).at(-1)

  assert.match(commandFor('/data')!, /^ +berth update web --disk \/data +#/)
  assert.match(commandFor('/a b$(id)')!, /^ +berth update web --disk '\/a b\$\(id\)' +#/)
})

test('a page that fails is named with its status and the setting that checks it', () => {
  const warning = { code: 'page_fails' as const, path: '/', status: 500 }
  const lines = warningLines((_, text) => text, 'web', { warnings: [warning] }).join('\n')
  assert.match(lines, /! \/ answered 500, and only the port was checked: berth logs web\n/)
  assert.match(lines, /^ +berth update web --health-path \/ /m)
})

const now = new Date('2026-11-22T12:00:00.000Z')

test('a time is shown in its zone, with the year if it is not the current one', () => {
  const at = '2026-12-31T23:30:00.000Z'
  assert.equal(dayAndTime(at, 'UTC', now), 'Thu 31 Dec 23:30')
  assert.equal(dayAndTime(at, 'Europe/Berlin', now), 'Fri 1 Jan 2027 00:30')
  assert.equal(clockTime('2026-07-01T00:00:00.000Z', 'Asia/Kathmandu'), '05:45')
  assert.equal(clockTime('2026-07-01T00:00:00.000Z', 'UTC'), '00:00')
})

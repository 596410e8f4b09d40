// A plan, as a person reads it before it is applied.
import type { Change, Detail, Kept, Plan } from '../../blueprint/plan.ts'
import { count } from '../../quantities.ts'
import { settingLabel } from '../service/setting-flags.ts'
import { type Output, plain } from '../terminal/output.ts'

const valueColumns = 60

type Screen = Pick<Output, 'print' | 'paint'>

const effects: Record<Detail['takes_effect'], string> = {
  immediately: '',
  'at restart': 'at the next restart or deploy',
  'at build': 'at the next deploy',
}

export function printPlan(out: Screen, { changes, refusals, missing, kept }: Plan): void {
  for (const change of changes) printChange(out, change)
  if (changes.length === 0 && refusals.length === 0) out.print('nothing to change')
  for (const { what, reason, hint } of refusals) {
    out.print(`${out.paint('red', '✘')} ${plain(`${what}: ${reason}`)}`)
    out.print(out.paint('dim', plain(`  ${hint}`)))
  }
  for (const { service, key } of missing) {
    out.print(`${out.paint('yellow', '!')} ${plain(`the secret ${key} of ${service} is not on the server`)}`)
  }
  const [services, datastores] = ['service ', 'datastore '].map((noun) =>
    kept.filter(({ what }) => what.startsWith(noun)),
  ) as [Kept[], Kept[]]
  const parts = kept.filter((one) => !services.includes(one) && !datastores.includes(one))
  if (parts.length > 0)
    out.print(`${count(parts.length, 'thing')} of the server that the file does not name; kept:`)
  const width = Math.max(...parts.map(({ what }) => what.length))
  for (const { what, removal } of parts)
    out.print(`  ${plain(what.padEnd(width))}  ${out.paint('dim', plain(removal))}`)
  const others = [
    ...(services.length > 0 ? [count(services.length, 'service')] : []),
    ...(datastores.length > 0 ? [count(datastores.length, 'datastore')] : []),
  ]
  if (others.length === 0) return
  const where = 'berth services, berth db ls, or berth plan --json'
  out.print(`${others.join(' and ')} that the file does not name; kept: ${out.paint('dim', where)}`)
}

function printChange(out: Screen, { action, noun, name, kind, details }: Change): void {
  const isNew = action === 'create'
  const [sign, style] = isNew ? (['+', 'green'] as const) : (['~', 'yellow'] as const)
  out.print(`${out.paint(style, sign)} ${noun} ${out.paint('bold', plain(name))}${isNew ? ` (${kind})` : ''}`)
  const rows = details.map((detail) => ({ label: labelOf(detail), value: textOf(detail), detail }))
  const width = Math.max(...rows.map(({ label }) => label.length))
  for (const { label, value, detail } of rows) {
    const effect = isNew ? '' : effects[detail.takes_effect]
    const line = `    ${plain(label.padEnd(width))}  ${plain(value)}  ${out.paint('dim', effect)}`
    out.print(line.trimEnd())
  }
}

function labelOf({ what }: Detail): string {
  return what.includes(' ') ? what : settingLabel(what)
}

function textOf({ what, from, to }: Detail): string {
  if (to === null) return '••••••'
  if (!what.startsWith('env ')) return from === null ? to : `${from} → ${to}`
  return from === null ? shortened(to) : `${shortened(from)} → ${shortened(to)}`
}

function shortened(value: string): string {
  const [line = ''] = value.split('\n')
  return line.length > valueColumns || line !== value ? `${line.slice(0, valueColumns)}…` : line
}

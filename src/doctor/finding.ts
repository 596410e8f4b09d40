// What a check found: a code for programs, and for people the sentences of its row in docs/doctor.md, with
// the values. The manual is the only place that has them, so it cannot fall behind.
import { existsSync, readFileSync } from 'node:fs'
import { withoutControlSequences } from '../control-sequences.ts'
import { quote } from '../domain/shell-word.ts'

type Severity = 'problem' | 'warning' | 'good'

export interface Finding {
  /** A code of docs/doctor.md. A good finding has the name of its check. */
  code: string
  severity: Severity
  /** With the actual values. */
  found: string
  /** Why it matters; null for a good finding. */
  why: string | null
  /** The command that fixes it on this host; null for a good finding. */
  fix: string | null
}

type Values = Readonly<Record<string, string | number>>

/** Fills the gaps of the sentences: `{path}` is the value `path`. Throws for an unknown code. */
export function finding(code: string, values: Values = {}): Finding {
  rows ??= readRows()
  const row = rows.get(code)
  if (!row) throw new Error(`docs/doctor.md has no ${code}`)
  const [found, why, fix] = row.sentences as [string, string, string]
  const { severity } = row
  return {
    code,
    severity,
    found: fill(found, values),
    why: fill(why, values),
    fix: fill(fix, values, wordOf),
  }
}

export function good(check: string, found: string): Finding {
  return { code: check, severity: 'good', found, why: null, fix: null }
}

/** A name of a process or a network is text of others: at a terminal it could move the cursor. */
function fill(sentence: string, values: Values, shown = (value: string) => value): string {
  return sentence.replace(/\{(\w+)\}/g, (gap, name: string) => {
    const value = String(values[name] ?? gap)
    return shown(withoutControlSequences(value).replace(/\p{Cc}/gu, ' '))
  })
}

/** A path is a word of the command, whatever its letters. */
function wordOf(value: string): string {
  return value.startsWith('/') ? quote(value) : value
}

interface Row {
  severity: Severity
  sentences: string[]
}

let rows: Map<string, Row> | null = null

/** Two folders up in the sources, three in the build. */
function readRows(): Map<string, Row> {
  const paths = ['../../docs/doctor.md', '../../../docs/doctor.md'].map(
    (path) => new URL(path, import.meta.url),
  )
  const [, problems = '', warnings = ''] = readFileSync(
    paths.find((path) => existsSync(path))!,
    'utf8',
  ).split(/^## (?:Problems|Warnings)$/m)
  return new Map([...rowsIn(problems, 'problem'), ...rowsIn(warnings, 'warning')])
}

function rowsIn(text: string, severity: Severity): [code: string, row: Row][] {
  return [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, code, cells]) => {
    const sentences = cells!.split(' | ').map((cell) => cell.replaceAll('\\|', '|').replaceAll('`', ''))
    return [code!, { severity, sentences }]
  })
}

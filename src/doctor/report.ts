// The findings as text for a terminal: problems first, and what is good in one line.
import { count } from '../quantities.ts'
import type { Finding } from './finding.ts'

export type Paint = (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string

interface Look {
  paint: Paint
  columns: number
  /** Also what is good, one by one. */
  isWhole: boolean
}

const marks = { problem: ['red', '✘'], warning: ['yellow', '!'], good: ['green', '✔'] } as const
const indent = '   '

export function reportLines(findings: readonly Finding[], { paint, columns, isWhole }: Look): string[] {
  const width = Math.max(40, Math.min(columns, 100)) - indent.length
  const lines = findings.flatMap((finding) => {
    const { severity, code, found, why, fix } = finding
    const [style, sign] = marks[severity]
    const mark = paint(style, sign)
    if (severity === 'good') return isWhole ? [` ${mark} ${paint('bold', code)}  ${found}`] : []
    const [first = '', ...more] = wrap(found, width)
    return [
      ` ${mark} ${paint('bold', first)}`,
      ...more.map((line) => indent + paint('bold', line)),
      ...wrap(`${why} [${code}]`, width).map((line) => indent + paint('dim', line)),
      `${indent}→ ${fix}`,
      '',
    ]
  })
  return [...lines, summary(findings, { paint, isWhole })]
}

function summary(findings: readonly Finding[], { paint, isWhole }: Pick<Look, 'paint' | 'isWhole'>): string {
  const of = (severity: Finding['severity']) => findings.filter((one) => one.severity === severity)
  const [problems, warnings, good] = [of('problem'), of('warning'), of('good')]
  const parts = [
    ...(problems.length > 0 ? [paint('red', count(problems.length, 'problem'))] : []),
    ...(warnings.length > 0 ? [paint('yellow', count(warnings.length, 'warning'))] : []),
  ]
  const names = isWhole ? '' : `: ${good.map(({ code }) => code).join(', ')}`
  return [...parts, `${paint('green', `${good.length} good`)}${names}`].join(' · ')
}

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

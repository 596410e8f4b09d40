// Rules about how much a reader has to take in.
import { lineBudget } from './line-budget.ts'
import { linesOf, product, type Rule, sources } from './tree.ts'

const columns = 110
const readmeBytes = 10 * 1024
const readmeLines = 120

export const linesAreShort: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) =>
    linesOf(text).flatMap((line, index) => {
      const width = [...line].length
      return width > columns
        ? [{ path, line: index + 1, text: `is ${width} columns wide, the limit is ${columns}` }]
        : []
    }),
  )

export const readmeIsShort: Rule = (tree) => {
  const path = 'README.md'
  const text = tree.get(path)
  if (text === undefined) return [{ path, line: 1, text: 'is missing' }]
  const bytes = Buffer.byteLength(text)
  const lines = linesOf(text).length
  return [
    ...(bytes > readmeBytes
      ? [{ path, line: 1, text: `is ${bytes} bytes long, the limit is ${readmeBytes}` }]
      : []),
    ...(lines > readmeLines
      ? [{ path, line: readmeLines + 1, text: `is ${lines} lines long, the limit is ${readmeLines}` }]
      : []),
  ]
}

export const productIsSmall: Rule = (tree) => {
  const files = sources(tree, product)
  const isDashboard = ([path]: [string, string]) => path.startsWith('src/dashboard/')
  const count = (counted: typeof files) => counted.reduce((sum, [, text]) => sum + countLines(text), 0)
  const dashboardLines = count(files.filter(isDashboard))
  const productLines = count(files) - dashboardLines
  const findings = [
    { path: 'src', lines: productLines, what: ' with machines and storage', budget: lineBudget.product },
    { path: 'src/dashboard', lines: dashboardLines, what: '', budget: lineBudget.dashboard },
  ]
  return findings
    .filter(({ lines, budget }) => lines > budget)
    .map(({ path, lines, what, budget }) => ({
      path,
      line: 1,
      text: `has ${lines} lines${what}, the budget is ${budget}`,
    }))
}

/** As wc counts them. */
function countLines(text: string): number {
  return text.split('\n').length - 1
}

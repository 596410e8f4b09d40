// Rules about size. What is too long is two things, or one thing said badly.
import { visit } from './syntax.ts'
import { lineAt, linesOf, type Rule, sources } from './tree.ts'

const fileLines = 300
const functionLines = 50
const columns = 110
const readmeBytes = 10 * 1024
const readmeLines = 120

export const filesAreShort: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) => {
    const length = linesOf(text).length
    return length > fileLines
      ? [{ path, line: fileLines + 1, text: `is ${length} lines long, the limit is ${fileLines}` }]
      : []
  })

export const linesAreShort: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) =>
    linesOf(text).flatMap((line, index) => {
      const width = [...line].length
      return width > columns
        ? [{ path, line: index + 1, text: `is ${width} columns wide, the limit is ${columns}` }]
        : []
    }),
  )

export const functionsAreShort: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) => {
    const long = functionsOf(path, text).filter(({ length }) => length > functionLines)
    return long.map(({ line, length }) => ({
      path,
      line,
      text: `a function of ${length} lines, the limit is ${functionLines}`,
    }))
  })

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

// The callback of `describe` is a list of tests rather than a function.
function functionsOf(path: string, text: string): { line: number; length: number }[] {
  const found: { start: number; end: number }[] = []
  const groups = new Set<number>()
  const add = (node: { start: number; end: number }) => void found.push(node)
  visit(path, text, {
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
    CallExpression(node) {
      const isGroup = node.callee.type === 'Identifier' && ['describe', 'suite'].includes(node.callee.name)
      if (isGroup) for (const argument of node.arguments) groups.add(argument.start)
    },
  })
  const measured = found.filter(({ start }) => !groups.has(start))
  return measured.map(({ start, end }) => {
    const line = lineAt(text, start)
    return { line, length: lineAt(text, end) - line + 1 }
  })
}

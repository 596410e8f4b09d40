// Rules about what a reader has to take in at once.
import { linesOf, type Rule, sources } from './tree.ts'

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

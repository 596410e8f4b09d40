// What the rules know about a TypeScript file, from its syntax tree: a word in a string or comment is not
// code. Uses oxc-parser, because the API of TypeScript 7 is marked unstable and starts a compiler process.
import { type ParseResult, parseSync, Visitor, type VisitorObject } from 'oxc-parser'
import { lineAt } from './tree.ts'

/** One import, re-export or `import()`; `names` is `*` where all of a module is taken. */
export interface Import {
  from: string
  names: string[]
  typeOnly: boolean
  line: number
}

const parsed = new Map<string, ParseResult>()

function parse(path: string, text: string): ParseResult {
  const known = parsed.get(text)
  if (known) return known
  const result = parseSync(path, text)
  const [error] = result.errors
  if (error) throw new Error(`${path} cannot be read: ${error.message}`)
  parsed.set(text, result)
  return result
}

export function visit(path: string, text: string, visitor: VisitorObject): void {
  new Visitor(visitor).visit(parse(path, text).program)
}

export function commentsOf(path: string, text: string): { line: number; words: string }[] {
  return parse(path, text).comments.map(({ start, value }) => ({ line: lineAt(text, start), words: value }))
}

/** Type-only is what `verbatimModuleSyntax` erases: `import { type X }` still loads the module. */
export function importsOf(path: string, text: string): Import[] {
  const imports: Import[] = []
  const add = (node: { start: number }, from: string, names: string[], typeOnly: boolean) =>
    imports.push({ from, names, typeOnly, line: lineAt(text, node.start) })
  visit(path, text, {
    ImportDeclaration(node) {
      const names = node.specifiers.map((specifier) => {
        if (specifier.type !== 'ImportSpecifier') return '*'
        return nameOf(specifier.imported)
      })
      add(node, node.source.value, names, node.importKind === 'type')
    },
    ExportNamedDeclaration(node) {
      const names = node.specifiers.map((specifier) => nameOf(specifier.local))
      if (node.source) add(node, node.source.value, names, node.exportKind === 'type')
    },
    ExportAllDeclaration: (node) => void add(node, node.source.value, ['*'], node.exportKind === 'type'),
    TSImportType: (node) => void add(node, node.source.value, ['*'], true),
    ImportExpression(node) {
      if (node.source.type === 'Literal') add(node, String(node.source.value), ['*'], false)
    },
  })
  return imports
}

/** The word of an identifier or of a quoted name; empty for anything computed. */
export function nameOf(node: { type: string; name?: unknown; value?: unknown }): string {
  const name = node.name ?? node.value
  return typeof name === 'string' ? name : ''
}

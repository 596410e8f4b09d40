// Rules about what the code says: no way around the types, no shell, no clock and no chance in a chart.
import type { CallExpression } from 'oxc-parser'
import { commentsOf, importsOf, nameOf, visit } from './syntax.ts'
import { type Finding, lineAt, type Rule, sources, type Tree } from './tree.ts'

/** Says something about a node of a file. */
type Report = (node: { start: number }, text: string) => void

export const exportsHaveNames: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    // Node loads a reporter by its default export.
    if (path.startsWith('src/dashboard/') || path === 'test/support/runner/reporter.ts') return
    visit(path, text, {
      ExportDefaultDeclaration: (node) => report(node, 'default export'),
      ExportSpecifier(node) {
        if (nameOf(node.exported) === 'default') report(node, 'default export')
      },
    })
  })

export const modulesListTheirExports: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    if (path.endsWith('/index.ts')) return
    visit(path, text, { ExportAllDeclaration: (node) => report(node, '`export *` outside an index file') })
  })

export const typesAreKnown: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    visit(path, text, { TSAnyKeyword: (node) => report(node, '`any`') })
  })

export const arraysAreFlat: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    visit(path, text, {
      ArrayExpression({ elements }) {
        for (const element of elements) {
          const isArray = element?.type === 'SpreadElement' && element.argument.type === 'ArrayExpression'
          if (isArray) report(element, 'spreads an array literal: list its elements')
        }
      },
    })
  })

export const objectsAreFlat: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    visit(path, text, {
      ObjectExpression({ properties }) {
        for (const property of properties) {
          const isObject = property.type === 'SpreadElement' && property.argument.type === 'ObjectExpression'
          if (isObject) report(property, 'spreads an object literal: list its properties')
        }
      },
    })
  })

export const compilerIsHeard: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) => {
    const silenced = commentsOf(path, text).filter(({ words }) =>
      /@ts-(ignore|expect-error|nocheck)/.test(words),
    )
    return silenced.map(({ line }) => ({ path, line, text: 'silences the compiler' }))
  })

export const nothingRunsInAShell: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    visit(path, text, {
      Property(node) {
        const isFalse = node.value.type === 'Literal' && node.value.value === false
        if (nameOf(node.key) === 'shell' && !isFalse) report(node, '`shell` other than false')
      },
      CallExpression(node) {
        const shell = shellStartedBy(node)
        if (shell) report(node, `starts ${shell}`)
      },
    })
  }).concat(sources(tree).flatMap(([path, text]) => shellImports(path, text)))

export const chartsKnowNoClock: Rule = (tree) =>
  perFile(tree, (path, text, report) => {
    if (!path.startsWith('machines/')) return
    visit(path, text, {
      MemberExpression(node) {
        const words = `${nameOf(node.object)}.${nameOf(node.property)}`
        if (/^(Date\.now|Math\.random|performance\.\w+|crypto\.\w+)$/.test(words))
          report(node, `\`${words}\``)
      },
      NewExpression(node) {
        if (nameOf(node.callee) === 'Date' && node.arguments.length === 0) report(node, '`new Date()`')
      },
      CallExpression(node) {
        if (nameOf(node.callee) === 'Date') report(node, '`Date()`')
      },
    })
  })

function perFile(tree: Tree, look: (path: string, text: string, report: Report) => void): Finding[] {
  return sources(tree).flatMap(([path, text]) => {
    const findings: Finding[] = []
    look(path, text, (node, words) => findings.push({ path, line: lineAt(text, node.start), text: words }))
    return findings
  })
}

function shellImports(path: string, text: string): Finding[] {
  const fromProcesses = importsOf(path, text).filter(({ from }) => /^(node:)?child_process$/.test(from))
  return fromProcesses.flatMap(({ names, typeOnly, line }) => {
    const shells = typeOnly ? [] : names.filter((name) => ['exec', 'execSync', '*'].includes(name))
    return shells.map((name) => ({ path, line, text: `\`${name}\` of node:child_process` }))
  })
}

/** The shell that a call runs as its program, or has another program run: `env sh -c …`. */
function shellStartedBy({ callee, arguments: given }: CallExpression): string | null {
  const [program, list] = given.map((word) => (word.type === 'Literal' ? word.value : word))
  const args = list !== null && typeof list === 'object' && 'elements' in list ? list.elements : null
  const starts = /^(spawn|execFile)(Sync)?$/.test(nameOf(callee))
  if ((starts || args) && isShell(program)) return String(program)
  const words = starts ? (args ?? []).map((word) => (word?.type === 'Literal' ? word.value : null)) : []
  const shell = words.find((word, index) => isShell(word) && /^-\w*c$/.test(String(words[index + 1])))
  return shell === undefined ? null : String(shell)
}

function isShell(program: unknown): boolean {
  return typeof program === 'string' && /^(.*\/)?(ba|da|z|k|a)?sh$/.test(program)
}

// Rules about imports: directions between folders, and the one gate of each library with side effects.
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { type Border, borders, covers, gates, jsonOnTheLoop, readByReaders } from './borders.ts'
import { type Import, importsOf, visit } from './syntax.ts'
import { type Finding, lineAt, product, type Rule, sources } from './tree.ts'

export const importsStayWithinBorders: Rule = (tree) =>
  sources(tree, product).flatMap(([path, text]) => {
    const border = borders.find(({ of }) => covers(of, path))
    if (!border) return [{ path, line: 1, text: 'has no line in the table of borders' }]
    const crossings = importsOf(path, text).filter((one) => !isWithin(border, path, one))
    return crossings.map((one) => ({
      path,
      line: one.line,
      text: `may not import ${one.from}${asValue(border, path, one)}`,
    }))
  })

export const librariesHaveOneGate: Rule = (tree) =>
  sources(tree, product).flatMap(([path, text]) =>
    importsOf(path, text).flatMap((one): Finding[] => {
      const closed = gates.find((entry) => isLoadOf(entry, one) && !covers(entry.gate, path))
      return closed
        ? [{ path, line: one.line, text: `only ${closed.gate} loads ${closed.name ?? closed.from}` }]
        : []
    }),
  )

export const strangersTextIsReadByReaders: Rule = (tree) =>
  sources(tree, product)
    .filter(([path]) => !covers('src/dashboard/', path))
    .flatMap(([path, text]) => [...loadedOutside(path, text), ...parsedOutside(path, text)])

function loadedOutside(path: string, text: string): Finding[] {
  if (covers('src/readers/', path)) return []
  return importsOf(path, text).flatMap((one) => {
    const loaded = one.from.startsWith('.') ? targetOf(path, one) : packageOf(one.from)
    const closed = readByReaders.find(
      ({ from, names, also = [] }) =>
        (loaded === from || covers(from, loaded)) &&
        (names === undefined || names.some((name) => one.names.includes(name))) &&
        !also.some((pattern) => covers(pattern, path)),
    )
    return closed && !one.typeOnly ? [{ path, line: one.line, text: `only readers load ${one.from}` }] : []
  })
}

function parsedOutside(path: string, text: string): Finding[] {
  const isListed = ['src/cli/', ...Object.values(jsonOnTheLoop).flat()].some((pattern) =>
    covers(pattern, path),
  )
  const findings: Finding[] = []
  if (isListed) return findings
  visit(path, text, {
    CallExpression({ callee, start }) {
      if (text.slice(callee.start, callee.end) !== 'JSON.parse') return
      findings.push({
        path,
        line: lineAt(text, start),
        text: 'parses JSON on the event loop: use readBody or readAnswer',
      })
    },
  })
  return findings
}

export const daemonIsWiredOnce: Rule = (tree) =>
  sources(tree, product).flatMap(([path, text]) => {
    const wirings =
      path === 'src/berthd.ts'
        ? []
        : importsOf(path, text).filter((one) => targetOf(path, one) === 'src/daemon/daemon.ts')
    return wirings.map(({ line }) => ({ path, line, text: 'only berthd.ts and tests import the daemon' }))
  })

function isWithin(border: Border, path: string, one: Import): boolean {
  if (isBuiltin(one.from)) return border.node && one.from.startsWith('node:')
  if (!one.from.startsWith('.')) return border.packages.includes(packageOf(one.from))
  const open = one.typeOnly ? [...border.values, ...border.types] : border.values
  return open.some((pattern) => covers(pattern, targetOf(path, one)))
}

function asValue(border: Border, path: string, one: Import): string {
  return isWithin(border, path, { ...one, typeOnly: true }) ? ' other than as `import type`' : ''
}

function isLoadOf(entry: { from: string; name?: string }, one: Import): boolean {
  if (one.typeOnly || packageOf(one.from) !== entry.from) return false
  return entry.name === undefined || one.names.includes(entry.name) || one.names.includes('*')
}

/** The path that an import of `path` leads to. */
export function targetOf(path: string, one: Import): string {
  return posix.join(posix.dirname(path), one.from)
}

function packageOf(specifier: string): string {
  const depth = specifier.startsWith('@') ? 2 : 1
  return specifier.split('/').slice(0, depth).join('/')
}

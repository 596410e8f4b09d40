// Import cycles, including those of types: the files of a cycle can only be read, moved or tested together.
import { targetOf } from './imports.ts'
import { importsOf } from './syntax.ts'
import { product, type Rule, sources } from './tree.ts'

type Graph = ReadonlyMap<string, readonly string[]>

/** One finding per group of files that reach each other: the shortest cycle through the first of them. */
export const importsHaveNoCycles: Rule = (tree) => {
  const files = sources(tree, product)
  const graph: Graph = new Map(
    files.map(([path, text]) => [path, importsOf(path, text).map((one) => targetOf(path, one))]),
  )
  const reported = new Set<string>()
  return files.flatMap(([path]) => {
    const cycle = reported.has(path) ? null : shortestCycle(graph, path)
    if (!cycle) return []
    for (const member of reachableFrom(graph, path)) {
      if (reachableFrom(graph, member).has(path)) reported.add(member)
    }
    return [{ path, line: 1, text: `is in an import cycle: ${[path, ...cycle].join(' -> ')}` }]
  })
}

/** By breadth-first search: the files after `start`, the last of which is `start` again. */
function shortestCycle(graph: Graph, start: string): string[] | null {
  const paths: [path: string, from: string[]][] = [[start, []]]
  const seen = new Set<string>()
  for (const [path, from] of paths) {
    for (const target of graph.get(path) ?? []) {
      if (target === start) return [...from, start]
      if (!seen.has(target)) paths.push([target, [...from, target]])
      seen.add(target)
    }
  }
  return null
}

function reachableFrom(graph: Graph, start: string): Set<string> {
  const found = new Set<string>()
  const open = [start]
  for (const path of open) {
    for (const target of graph.get(path) ?? []) {
      if (found.has(target)) continue
      found.add(target)
      open.push(target)
    }
  }
  return found
}

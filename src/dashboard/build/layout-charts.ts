// Lays the charts out when the dashboard is built, so that no page carries a layout engine. Text is
// monospaced, so its width needs no browser.
import elk, { type ElkExtendedEdge, type ElkNode, type LayoutOptions } from 'elkjs/lib/elk.bundled.js'
import type { ChartEdge, ChartGraph, ChartState } from '../../../machines/graph.ts'

export interface ChartLayout {
  width: number
  height: number
  /** The chart itself is the first, with an empty id. */
  states: StateBox[]
  edges: (ChartEdge & { line: number })[]
  lines: EdgeLine[]
  /** From the dots to the initial states. */
  starts: Points[]
}

/** In pixels. */
interface Box {
  x: number
  y: number
  width: number
  height: number
}

type Points = [number, number][]
type StateBox = ChartState & Box

/** Edges between the same two states share a line. */
interface EdgeLine {
  points: Points
  label: (Box & { rows: LabelRow[] }) | null
}

interface LabelRow {
  /** The index of the edge that it belongs to. */
  edge: number
  text: string
}

/** `siblings`: the edges on the same line. */
type Words = (edge: ChartEdge, siblings: ChartEdge[]) => string

/** Of the widest of the usual monospaced typefaces, in ems. */
const letterWidth = 0.61
const stateSize = { font: 13, height: 32, padding: 14 }
const labelSize = { font: 11, height: 15, letters: 24, padding: 4 }
const titleHeight = 28
const dotSize = 8

/** ELK's options are not inherited: each state with states in it gets them. */
const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.layered.thoroughness': '30',
  'elk.spacing.nodeNode': '22',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '2',
  'elk.layered.spacing.nodeNodeBetweenLayers': '22',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
}

/** Which of them suits a chart better shows only afterwards. */
const placements = ['NETWORK_SIMPLEX', 'BRANDES_KOEPF']

/** A page is narrow: of two layouts, the narrower one is the better. */
export async function layOut(graph: ChartGraph, words: Words): Promise<ChartLayout> {
  const layouts = await Promise.all(placements.map((placement) => layOutWith(placement, graph, words)))
  return layouts.reduce((best, one) => (one.width < best.width ? one : best))
}

async function layOutWith(placement: string, graph: ChartGraph, words: Words): Promise<ChartLayout> {
  const layoutOptions = { ...options, 'elk.layered.nodePlacement.strategy': placement }
  const groups = linesOf(graph.edges)
  const initial = graph.states.filter(({ isInitial }) => isInitial)
  const chart: ElkNode = {
    id: 'chart',
    children: [toNode(graph, graph.states[0]!, layoutOptions)],
    layoutOptions: { ...layoutOptions, 'elk.padding': '[top=1,left=1,bottom=1,right=1]' },
    edges: [
      ...groups.map((edges, index) => toElkEdge(graph, edges, index, words)),
      ...initial.map(({ id }) => ({ id: `start ${id}`, sources: [dotId(id)], targets: [nodeId(id)] })),
    ],
  }
  const drawn: ElkNode = await new elk.default().layout(chart)
  const drawnEdges = drawn.edges as ElkExtendedEdge[]
  return {
    width: Math.ceil(drawn.width ?? 0),
    height: Math.ceil(drawn.height ?? 0),
    states: boxesOf(drawn, graph),
    edges: graph.edges.map((edge, index) => ({
      ...edge,
      line: groups.findIndex((edges) => edges.includes(index)),
    })),
    lines: groups.map((edges, index) => toLine(graph, edges, drawnEdges[index]!, words)),
    starts: drawnEdges.slice(groups.length).map(pointsOf),
  }
}

/** The indexes of the edges on each line. */
function linesOf(edges: ChartEdge[]): number[][] {
  const lines = new Map<string, number[]>()
  edges.forEach(({ from, to }, index) => {
    const ends = JSON.stringify([from, to])
    lines.set(ends, [...(lines.get(ends) ?? []), index])
  })
  return [...lines.values()]
}

function toNode(graph: ChartGraph, { id, key, kind }: ChartState, layoutOptions: LayoutOptions): ElkNode {
  const children = graph.states.filter(({ parent }) => parent === id)
  if (children.length === 0) {
    const width = Math.ceil(key.length * stateSize.font * letterWidth) + 2 * stateSize.padding
    return { id: nodeId(id), width: kind === 'final' ? width + 6 : width, height: stateSize.height }
  }
  const dots = children
    .filter(({ isInitial }) => isInitial)
    .map((child) => ({ id: dotId(child.id), width: dotSize, height: dotSize }))
  return {
    id: nodeId(id),
    children: [...dots, ...children.map((child) => toNode(graph, child, layoutOptions))],
    layoutOptions: { ...layoutOptions, 'elk.padding': `[top=${titleHeight + 6},left=14,bottom=14,right=14]` },
  }
}

/** ELK takes no empty id. */
function nodeId(id: string): string {
  return `state ${id}`
}

function dotId(id: string): string {
  return `dot ${id}`
}

function toElkEdge(graph: ChartGraph, edges: number[], index: number, words: Words): ElkExtendedEdge {
  const rows = rowsOf(graph, edges, words)
  const letters = Math.max(...rows.map(({ text }) => text.length))
  const { font, height, padding } = labelSize
  const size = {
    width: Math.ceil(letters * font * letterWidth) + 2 * padding,
    height: rows.length * height,
  }
  const { from, to } = graph.edges[edges[0]!]!
  const [upper, lower] = isUpward(graph, from, to) ? [to, from] : [from, to]
  return {
    id: `line ${index}`,
    sources: [nodeId(upper)],
    targets: [nodeId(lower)],
    labels:
      rows.length === 0
        ? []
        : [{ text: 'rows', ...size, layoutOptions: { 'elk.edgeLabels.inline': 'true' } }],
  }
}

/**
 * A chart is written in the order of a life, and drawn in it. ELK would begin with any state of a cycle, so
 * it gets the arrows that lead back as arrows that lead on.
 */
function isUpward({ states }: ChartGraph, from: string, to: string): boolean {
  const isAround = (outer: string, inner: string) => outer === '' || inner.startsWith(`${outer}.`)
  if (isAround(from, to) || isAround(to, from)) return false
  const indexOf = (id: string) => states.findIndex((state) => state.id === id)
  return indexOf(to) < indexOf(from)
}

function rowsOf({ edges }: ChartGraph, indexes: number[], words: Words): LabelRow[] {
  const siblings = indexes.map((index) => edges[index]!)
  return indexes.flatMap((index) =>
    wrap(words(edges[index]!, siblings)).map((text) => ({ edge: index, text })),
  )
}

function wrap(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ').filter(Boolean)) {
    const last = lines.at(-1)
    if (last !== undefined && `${last} ${word}`.length <= labelSize.letters)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function boxesOf(drawn: ElkNode, graph: ChartGraph): StateBox[] {
  const places = new Map<string, ElkNode>()
  const visit = (node: ElkNode) => {
    places.set(node.id, node)
    for (const child of node.children ?? []) visit(child)
  }
  visit(drawn)
  return graph.states.map((state) => ({ ...state, ...toBox(places.get(nodeId(state.id))!) }))
}

function toLine(graph: ChartGraph, edges: number[], drawn: ElkExtendedEdge, words: Words): EdgeLine {
  const { from, to } = graph.edges[edges[0]!]!
  const points = pointsOf(drawn)
  if (isUpward(graph, from, to)) points.reverse()
  const label = drawn.labels?.[0]
  return { points, label: label ? { ...toBox(label), rows: rowsOf(graph, edges, words) } : null }
}

function pointsOf({ sections = [] }: ElkExtendedEdge): Points {
  return sections.flatMap(({ startPoint, bendPoints = [], endPoint }) =>
    [startPoint, ...bendPoints, endPoint].map(({ x, y }): [number, number] => [round(x), round(y)]),
  )
}

function toBox({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x: round(x), y: round(y), width: round(width), height: round(height) }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

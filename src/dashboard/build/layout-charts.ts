// Lays the charts out when the dashboard is built, so that no page carries a layout engine. Text is
// monospaced, so its width needs no browser.
import elk, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js'
import type { ChartEdge, ChartGraph, ChartState } from './chart-graph.ts'

export interface ChartLayout {
  width: number
  height: number
  states: StateBox[]
  edges: EdgeLine[]
}

/** In pixels. The chart itself is the first box, with an empty id. */
interface StateBox extends Pick<ChartState, 'id' | 'key' | 'kind' | 'isInitial'> {
  x: number
  y: number
  width: number
  height: number
}

interface EdgeLine extends ChartEdge {
  points: [number, number][]
  label: { x: number; y: number; lines: string[] } | null
}

export type Words = (edge: ChartEdge) => string

/** Of the widest of the usual monospaced typefaces, in ems. */
const letterWidth = 0.61
const stateSize = { font: 13, height: 32, padding: 14 }
const labelSize = { font: 11, height: 15, letters: 24 }
const titleHeight = 28

const layoutOptions = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.layered.spacing.nodeNodeBetweenLayers': '36',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.edgeLabels.inline': 'false',
}

export async function layOut(graph: ChartGraph, words: Words): Promise<ChartLayout> {
  const [root] = graph.states
  const chart: ElkNode = {
    id: 'chart',
    children: [toNode(graph, root!)],
    layoutOptions,
    edges: graph.edges.map((edge, index) => toElkEdge(edge, index, words)),
  }
  const drawn = await new elk.default().layout(chart)
  return {
    width: Math.ceil(drawn.width ?? 0),
    height: Math.ceil(drawn.height ?? 0),
    states: boxesOf(drawn, graph),
    edges: graph.edges.map((edge, index) => toLine(edge, drawn.edges![index]!)),
  }
}

function toNode(graph: ChartGraph, { id, key, kind }: ChartState): ElkNode {
  const children = graph.states.filter(({ parent }) => parent === id)
  if (children.length > 0) {
    return {
      id: nodeId(id),
      children: children.map((child) => toNode(graph, child)),
      layoutOptions: { 'elk.padding': `[top=${titleHeight + 12},left=14,bottom=14,right=14]` },
    }
  }
  const width = Math.ceil(key.length * stateSize.font * letterWidth) + 2 * stateSize.padding
  return { id: nodeId(id), width: kind === 'final' ? width + 6 : width, height: stateSize.height }
}

/** ELK takes no empty id. */
function nodeId(id: string): string {
  return `state ${id}`
}

function toElkEdge(edge: ChartEdge, index: number, words: Words): ElkExtendedEdge {
  const lines = wrap(words(edge))
  const width = Math.ceil(Math.max(0, ...lines.map((line) => line.length)) * labelSize.font * letterWidth)
  const label = { text: lines.join('\n'), width: width + 6, height: lines.length * labelSize.height }
  return {
    id: `edge ${index}`,
    sources: [nodeId(edge.from)],
    targets: [nodeId(edge.to)],
    labels: lines.length === 0 ? [] : [label],
  }
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
  return graph.states.map(({ id, key, kind, isInitial }) => {
    const { x = 0, y = 0, width = 0, height = 0 } = places.get(nodeId(id))!
    return { id, key, kind, isInitial, x: round(x), y: round(y), width: round(width), height: round(height) }
  })
}

function toLine(edge: ChartEdge, { sections = [], labels = [] }: ElkExtendedEdge): EdgeLine {
  const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) =>
    [startPoint, ...bendPoints, endPoint].map(({ x, y }): [number, number] => [round(x), round(y)]),
  )
  const [label] = labels
  return {
    ...edge,
    points,
    label: label ? { x: round(label.x ?? 0), y: round(label.y ?? 0), lines: label.text!.split('\n') } : null,
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

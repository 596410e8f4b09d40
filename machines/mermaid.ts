// A chart as Mermaid text, for people who read it elsewhere. The texts in test/fixtures show in a review what
// a change of a chart does.
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { eventName, guardName, nodesOf } from './graph.ts'

/** A `stateDiagram-v2`: nested, initial and final states, and transitions with their causes. */
export function toMermaid(machine: AnyStateMachine): string {
  const nameOf = shortNames([...nodesOf(machine.root)])
  // Events that are handled in any state start at the machine itself.
  const lines = [...describe(machine.root, '  ', nameOf), ...arrows(machine.root, '  ', nameOf)]
  return ['stateDiagram-v2', ...lines, ''].join('\n')
}

type Names = (node: AnyStateNode) => string

/** The key, or as much of the path as distinguishes the state from others with the same key. */
function shortNames(nodes: AnyStateNode[]): Names {
  const end = ({ path, key }: AnyStateNode, length: number) => path.slice(-length).join('_') || key
  const isUnique = (name: string, length: number) =>
    nodes.filter((node) => end(node, length) === name).length === 1
  return (node) => {
    let length = 1
    while (!isUnique(end(node, length), length)) length++
    return end(node, length)
  }
}

function describe(node: AnyStateNode, indent: string, nameOf: Names): string[] {
  const children = Object.values(node.states)
  const initial = node.type === 'compound' ? node.initial.target![0]! : null
  const composites = children.flatMap((child) => {
    const inner = describe(child, `${indent}  `, nameOf)
    return inner.length > 0 ? [`${indent}state ${nameOf(child)} {`, ...inner, `${indent}}`] : []
  })
  return [
    ...children.flatMap((child) => labelOf(child, indent, nameOf)),
    ...(initial ? [`${indent}[*] --> ${nameOf(initial)}`] : []),
    ...composites,
    ...children.flatMap((child) => arrows(child, indent, nameOf)),
  ]
}

function labelOf(node: AnyStateNode, indent: string, nameOf: Names): string[] {
  return nameOf(node) === node.key ? [] : [`${indent}state "${node.key}" as ${nameOf(node)}`]
}

function arrows(node: AnyStateNode, indent: string, nameOf: Names): string[] {
  const transitions = [...node.transitions.values()].flat().concat(node.always ?? [])
  const lines = transitions.flatMap(({ target, eventType, guard }) =>
    (target ?? []).map((to) => {
      const cause = [eventName(eventType), ...(guard === undefined ? [] : [`[${guardName(guard)}]`])]
      const label = cause.filter((part) => part !== '').join(' ')
      return `${indent}${nameOf(node)} --> ${nameOf(to)}${label === '' ? '' : ` : ${label}`}`
    }),
  )
  return node.type === 'final' ? [...lines, `${indent}${nameOf(node)} --> [*]`] : lines
}

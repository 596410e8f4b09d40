// A chart as Mermaid text: the golden of each machine, so that a change of behaviour shows in a review.
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/** A `stateDiagram-v2` of the machine: nested states, initial and final ones, what leads where and why. */
export function toMermaid(machine: AnyStateMachine): string {
  // What the machine takes in any state leads from the machine itself.
  const always = arrows(machine.root, '  ')
  return ['stateDiagram-v2', ...describe(machine.root, '  '), ...always, ''].join('\n')
}

function describe(node: AnyStateNode, indent: string): string[] {
  const initial = node.config.initial
  const lines = typeof initial === 'string' ? [`${indent}[*] --> ${initial}`] : []
  for (const child of Object.values(node.states)) {
    const inner = describe(child, `${indent}  `)
    if (inner.length > 0 && Object.keys(child.states).length > 0) {
      lines.push(`${indent}state ${child.key} {`, ...inner, `${indent}}`)
    }
  }
  for (const child of Object.values(node.states)) lines.push(...arrows(child, indent))
  return lines
}

function arrows(node: AnyStateNode, indent: string): string[] {
  const lines = [...node.transitions.values()].flat().flatMap((transition) =>
    (transition.target ?? []).map((target) => {
      const guard = guardName(transition.guard)
      return `${indent}${node.key} --> ${target.key} : ${eventName(transition.eventType)}${guard}`
    }),
  )
  if (node.type === 'final') lines.push(`${indent}${node.key} --> [*]`)
  return lines
}

function guardName(guard: unknown): string {
  if (guard === undefined) return ''
  return ` [${typeof guard === 'string' ? guard : (guard as { type: string }).type}]`
}

function eventName(type: string): string {
  const effect = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type)
  if (!effect) return type
  return `${effect[2]} ${effect[1] === 'done' ? 'done' : 'failed'}`
}

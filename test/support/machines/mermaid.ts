// Renders a chart as Mermaid text. It is the golden file of each machine, so that reviews show
// changes of behaviour.
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/**
 * A `stateDiagram-v2` of the machine: nested, initial and final states, and transitions with their causes.
 */
export function toMermaid(machine: AnyStateMachine): string {
  // Events that are handled in any state start at the machine itself.
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

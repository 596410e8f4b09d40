// The states of a chart in which an actor can be, and how a history names them.
import type { AnyStateNode } from 'xstate'

export function leavesOf(node: AnyStateNode): AnyStateNode[] {
  const children = Object.values(node.states)
  return children.length === 0 ? [node] : children.flatMap(leavesOf)
}

/** With the first state of each region next to it. */
export function pathOfLeaf(leaf: AnyStateNode): string {
  const paths = [leaf.path.join('.')]
  for (let node = leaf; node.parent; node = node.parent)
    if (node.parent.type === 'parallel')
      for (const region of Object.values(node.parent.states))
        if (region !== node) paths.push(leavesOf(region)[0]!.path.join('.'))
  return paths.join(' ')
}

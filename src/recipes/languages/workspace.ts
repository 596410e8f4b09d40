// An app in a folder may belong to a workspace above it, which is what is built then.
import { posix } from 'node:path'
import type { Facts } from '../facts.ts'
import type { Tree } from '../tree.ts'

export interface Workspace {
  tree: Tree
  /** The path of that tree in the source. */
  context: string
  /** The app's folder in it; empty if it is the same. */
  folder: string
}

/** The nearest folder above the app that the test is true of, or the app's own. */
export function findWorkspace({ top, app, rootDir }: Facts, isWorkspace: (tree: Tree) => boolean): Workspace {
  let context = rootDir
  while (context !== '' && !isWorkspace(top.in(context))) context = posix.dirname(`/${context}`).slice(1)
  const tree = top.in(context)
  return isWorkspace(tree)
    ? { tree, context, folder: posix.relative(context, rootDir) }
    : { tree: app, context: rootDir, folder: '' }
}

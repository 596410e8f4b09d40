// The workspace of an app: packages that are installed together, at the top of them.
import { posix } from 'node:path'
import type { Facts } from '../../facts.ts'
import { createFolderTest } from '../../folder-patterns.ts'
import type { Tree } from '../../tree.ts'
import { type Manifest, readManifest } from './manifest.ts'

export interface Workspace {
  /** Where it is in the source: the context of the build. */
  folder: string
  tree: Tree
  manifest: Manifest
  /** By their folders. An app alone has none. */
  members: Map<string, Manifest>
}

const maxMembers = 200

/** The one that has the app as a member, or the app alone. */
export function findWorkspace({ top, app, rootDir }: Facts): Workspace {
  for (let folder = rootDir; folder !== ''; ) {
    folder = posix.dirname(folder).replace(/^\.$/, '')
    const workspace = readWorkspace(top.in(folder), folder)
    if (workspace.members.has(posix.relative(folder, rootDir))) return workspace
  }
  return readWorkspace(app, rootDir)
}

function readWorkspace(tree: Tree, folder: string): Workspace {
  const manifest = readManifest(tree)
  const patterns = [...manifest.workspaces, ...readPnpmPackages(tree)].map((pattern) =>
    pattern.replace(/^(!?)\.\//, '$1').replace(/\/$/, ''),
  )
  const isMember = createFolderTest(patterns)
  const folders =
    patterns.length === 0 ? [] : tree.find(/\/package\.json$/).map((path) => posix.dirname(path))
  const members = folders.filter(isMember).slice(0, maxMembers)
  return { folder, tree, manifest, members: new Map(members.map((path) => [path, readManifest(tree, path)])) }
}

/** Those that a member needs, before itself. */
export function listNeeded({ members }: Workspace, folder: string, seen = new Set<string>()): string[] {
  const manifest = members.get(folder)
  if (manifest === undefined || seen.has(folder)) return []
  seen.add(folder)
  const names = new Set(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
  const needed = [...members].filter(([, { name }]) => name !== null && names.has(name))
  return [...needed.flatMap(([other]) => listNeeded({ members } as Workspace, other, seen)), folder]
}

/** The list below `packages:`, of a file that rarely has more than it. */
function readPnpmPackages(tree: Tree): string[] {
  const [, list = ''] =
    /^packages:[^\n]*\n((?:[ \t]*(?:-[^\n]*|#[^\n]*)?\n)*)/m.exec(`${tree.text('pnpm-workspace.yaml')}\n`) ??
    []
  return [...list.matchAll(/^[ \t]*-[ \t]*(['"]?)([^'"\n#]+)\1/gm)].map(([, , pattern = '']) =>
    pattern.trim(),
  )
}

// An app of JavaScript, with what all its rules need to know.
import semver from 'semver'
import type { Tree } from '../../tree.ts'
import { chooseVersion, readVersionFiles, type Version, type VersionWish } from '../../versions.ts'
import { hasPackage, type Manifest } from './manifest.ts'
import { chooseManager, type PackageManager } from './package-manager.ts'
import { listNeeded, type Workspace } from './workspace.ts'

export interface App {
  workspace: Workspace
  /** In its workspace; empty for the top. */
  folder: string
  tree: Tree
  manifest: Manifest
  manager: PackageManager
  node: Version
  bun: Version
}

const nodes = { tags: ['8', '10', '12', '14', '16', '18', '20', '22', '24', '26'], usual: '24' }
const buns = { tags: ['1'], usual: '1' }
/** What .nvmrc and others may have instead of a number. */
const aliases = new Map(
  `latest=26 current=26 node=26 stable=24 lts=24
  lts/*=24 lts/-1=22 lts/-2=20 lts/-3=18 lts/krypton=24 lts/jod=22 lts/iron=20 lts/hydrogen=18
  lts/gallium=16 lts/fermium=14 lts/erbium=12 lts/dubnium=10 lts/carbon=8`
    .split(/\s+/)
    .map((alias) => alias.split('=') as [string, string]),
)

export function readApp(workspace: Workspace, folder = ''): App {
  const { tree: top, manifest: root } = workspace
  const tree = top.in(folder)
  const manifest = workspace.members.get(folder) ?? root
  const manager = chooseManager(workspace)
  const bun = manager.name === 'bun' ? manager.version : (manifest.engines.bun ?? root.engines.bun)
  return {
    workspace,
    folder,
    tree,
    manifest,
    manager,
    node: chooseVersion([...listNodes(tree, manifest), ...(folder ? listNodes(top, root) : [])], nodes),
    bun: chooseVersion(bun ? [{ text: bun, reason: 'package.json' }] : [], buns),
  }
}

/** What a folder says of the version. */
function listNodes(tree: Tree, { engines, voltaNode }: Manifest): VersionWish[] {
  const range = engines.node ?? ''
  const asked = range ? [{ text: range, reason: `engines.node "${range}" in package.json` }] : []
  const pinned = [
    ...(voltaNode ? [{ text: voltaNode, reason: `volta.node "${voltaNode}" in package.json` }] : []),
    ...readVersionFiles(tree, ['.nvmrc', '.node-version'], 'node'),
  ]
  // A lower limit says less than the version that people work with.
  const wishes = /^\s*(>|\*)/.test(range) ? [...pinned, ...asked] : [...asked, ...pinned]
  return wishes.map(({ text, reason }) => ({ text: aliases.get(text) ?? text, reason }))
}

/** Node.js 22.18 is the first that leaves out types by itself. */
export function runsTypescript({ node: { tag } }: App): boolean {
  return semver.intersects(/^\d+(\.\d+)?$/.test(tag) ? `~${tag}` : tag, '>=22.18.0')
}

/** The engines of Prisma are programs that need OpenSSL. */
export function usesPrisma({ workspace, folder, manifest }: App): boolean {
  const manifests = listNeeded(workspace, folder).flatMap((member) => workspace.members.get(member) ?? [])
  return [manifest, ...manifests].some(
    (one) => hasPackage(one, '@prisma/client') || hasPackage(one, 'prisma'),
  )
}

/** Its settings may insist on variables, which generating a client does not use. Those of the build stay. */
export function forGenerate({ workspace: { tree } }: App, command: string): string {
  const settings = tree.find(/(^|\/)prisma\.config\.[cm]?[jt]s$/).map((path) => tree.text(path))
  const asked = settings.flatMap((text) => [...text.matchAll(/\benv(?:<\w+>)?\(\s*['"`](\w+)['"`]/g)])
  const names = [...new Set(asked.map(([, name]) => name))]
  const value = 'postgresql://localhost/only-for-the-build'
  return [...names.map((name) => `export ${name}="\${${name}:-${value}}"`), command].join(' && ')
}

/** Packages for development, of all that are installed together. */
export function listDevelopment({ workspace: { manifest, members } }: App): string[] {
  return [manifest, ...members.values()].flatMap(({ devDependencies }) => Object.keys(devDependencies))
}

// An app of JavaScript, with what all its rules need to know.
import semver from 'semver'
import type { Facts } from '../../facts.ts'
import type { Tree } from '../../tree.ts'
import { chooseVersion, readVersionFiles, type Version } from '../../versions.ts'
import { hasPackage, type Manifest, readManifest } from './manifest.ts'
import { chooseManager, type PackageManager } from './package-manager.ts'

export interface App {
  tree: Tree
  /** Of the context; empty if they are the same. */
  folder: string
  manifest: Manifest
  manager: PackageManager
  node: Version
  bun: Version
}

const nodes = { tags: ['14', '16', '18', '20', '22', '24', '26'], usual: '24' }
const buns = { tags: ['1'], usual: '1' }
/** What .nvmrc and others may have instead of a number. */
const aliases: Record<string, string> = {
  latest: '26',
  current: '26',
  node: '26',
  stable: '24',
  lts: '24',
  'lts/*': '24',
  'lts/krypton': '24',
  'lts/jod': '22',
  'lts/iron': '20',
  'lts/hydrogen': '18',
}

export function readApp({ app: tree }: Facts): App {
  const manifest = readManifest(tree)
  const manager = chooseManager(tree, manifest)
  return {
    tree,
    folder: '',
    manifest,
    manager,
    node: chooseNode(tree, manifest),
    bun: chooseBun(tree, manifest, manager),
  }
}

function chooseNode(tree: Tree, { engines, voltaNode }: Manifest): Version {
  const range = engines.node ?? ''
  const asked = range ? [{ text: range, reason: `engines.node "${range}" in package.json` }] : []
  const pinned = [
    ...(voltaNode ? [{ text: voltaNode, reason: `volta.node "${voltaNode}" in package.json` }] : []),
    ...readVersionFiles(tree, ['.nvmrc', '.node-version'], 'node'),
  ]
  // A lower limit says less than the version that people work with.
  const wishes = /^\s*(>|\*)/.test(range) ? [...pinned, ...asked] : [...asked, ...pinned]
  return chooseVersion(
    wishes.map(({ text, reason }) => ({ text: aliases[text] ?? text, reason })),
    nodes,
  )
}

function chooseBun(tree: Tree, { engines }: Manifest, manager: PackageManager): Version {
  const installing = manager.name === 'bun' ? manager.version : engines.bun
  const wishes = [
    ...(installing ? [{ text: installing, reason: 'package.json' }] : []),
    ...readVersionFiles(tree, ['.bun-version'], 'bun'),
  ]
  return chooseVersion(wishes, buns)
}

/** Node.js 22.18 is the first that leaves out types by itself. */
export function runsTypescript({ node: { tag } }: App): boolean {
  return semver.intersects(/^\d+(\.\d+)?$/.test(tag) ? `~${tag}` : tag, '>=22.18.0')
}

/** The engines of Prisma are programs that need OpenSSL. */
export function usesPrisma({ manifest }: App): boolean {
  return hasPackage(manifest, '@prisma/client') || hasPackage(manifest, 'prisma')
}

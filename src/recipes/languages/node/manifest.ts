// The package.json of a folder, as far as rules read it.
import { posix } from 'node:path'
import { toList, toObject, toText, toTexts } from '../../json.ts'
import type { Tree } from '../../tree.ts'

type Texts = Record<string, string>

export interface Manifest {
  name: string | null
  main: string | null
  scripts: Texts
  dependencies: Texts
  devDependencies: Texts
  engines: Texts
  /** `pnpm@10.4.1`, of `packageManager` or `devEngines`. */
  manager: { name: string; version: string; reason: string; isStrict: boolean } | null
  /** Of Volta. */
  voltaNode: string | null
  workspaces: string[]
  /** Its programs, which are linked when packages are installed. */
  programs: string[]
  programFolder: string | null
  /** Packages of Bun whose install scripts run. */
  trusted: string[]
}

export function readManifest(tree: Tree, folder = ''): Manifest {
  const json = tree.json(posix.join(folder, 'package.json'))
  return {
    name: toText(json.name),
    main: toText(json.main)?.replace(/^\.\//, '') ?? null,
    scripts: toTexts(json.scripts),
    dependencies: toTexts(json.dependencies),
    devDependencies: toTexts(json.devDependencies),
    engines: toTexts(json.engines),
    manager: findManager(json),
    voltaNode: toText(toObject(json.volta).node),
    programs: Object.values(typeof json.bin === 'string' ? { bin: json.bin } : toTexts(json.bin)),
    programFolder: toText(toObject(json.directories).bin),
    workspaces: toList(toObject(json.workspaces).packages ?? json.workspaces),
    trusted: toList(json.trustedDependencies),
  }
}

export function hasPackage(manifest: Manifest, name: string): boolean {
  return findRange(manifest, name) !== null
}

/** `^15.0.0`. Null if it is no direct dependency. */
export function findRange({ dependencies, devDependencies }: Manifest, name: string): string | null {
  return dependencies[name] ?? devDependencies[name] ?? null
}

function findManager(json: Record<string, unknown>): Manifest['manager'] {
  const [, name, version] = /^(\w+)@([\w.-]+)/.exec(toText(json.packageManager) ?? '') ?? []
  if (name && version)
    return {
      name,
      version,
      reason: `packageManager "${name}@${version}" in package.json`,
      isStrict: false,
    }
  const wished = toObject(toObject(json.devEngines).packageManager)
  const wishedName = toText(wished.name)
  if (wishedName === null) return null
  return {
    name: wishedName,
    version: toText(wished.version) ?? '',
    reason: 'devEngines.packageManager in package.json',
    isStrict: true,
  }
}

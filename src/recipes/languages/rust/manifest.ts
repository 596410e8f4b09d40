// The packages of a Cargo.toml, and their programs.
import { posix } from 'node:path'
import { createFolderTest } from '../../folder-patterns.ts'
import type { Tree } from '../../tree.ts'

export interface Program {
  name: string
  /** The package that has it. */
  package: string
  /** The folder of that package; empty for the top. */
  folder: string
  dependencies: string[]
  rustVersion: string | null
  /** Whether `cargo run` takes it. */
  isDefault: boolean
}

interface Manifest {
  package?: { name?: unknown; 'default-run'?: unknown; 'rust-version'?: unknown }
  bin?: unknown
  dependencies?: object
  workspace?: { members?: unknown; 'default-members'?: unknown; package?: { 'rust-version'?: unknown } }
}

export function isWorkspace(tree: Tree): boolean {
  return readManifest(tree).workspace !== undefined
}

/** Of the packages that are built by default. */
export function findPrograms(tree: Tree): Program[] {
  return findFolders(tree).flatMap((folder) => {
    const { package: own = {}, dependencies = {} } = readManifest(tree.in(folder))
    const version = own['rust-version'] ?? readManifest(tree).workspace?.package?.['rust-version']
    return findBinaries(tree.in(folder)).map((name) => ({
      name,
      package: String(own.name),
      folder,
      dependencies: Object.keys(dependencies),
      rustVersion: typeof version === 'string' ? version : null,
      isDefault: own['default-run'] === name,
    }))
  })
}

function findFolders(tree: Tree): string[] {
  const { workspace, package: top } = readManifest(tree)
  const members = toList(workspace?.['default-members'] ?? workspace?.members)
  const isMember = createFolderTest(members.map((glob) => posix.normalize(glob)))
  const folders = tree.find(/\/Cargo\.toml$/).map((path) => posix.dirname(path))
  const found = folders.filter(isMember)
  const hasTop = top !== undefined && (workspace?.['default-members'] === undefined || members.includes('.'))
  return [...(hasTop ? [''] : []), ...found]
}

/** Those of `[[bin]]`, and of the usual places. */
function findBinaries(tree: Tree): string[] {
  const { package: own, bin } = readManifest(tree)
  const listed = (Array.isArray(bin) ? bin : []) as { name?: unknown; path?: unknown }[]
  const paths = new Set(listed.map(({ path }) => path))
  const others = tree.find(/^src\/(main|bin\/[^/]+|bin\/[^/]+\/main)\.rs$/).filter((path) => !paths.has(path))
  const names = others.map((path) =>
    path === 'src/main.rs' ? own?.name : path.replace(/^src\/bin\//, '').replace(/(\/main)?\.rs$/, ''),
  )
  return [...new Set([...listed.map(({ name }) => name), ...names].map(String))]
}

function readManifest(tree: Tree): Manifest {
  return tree.toml('Cargo.toml') as Manifest
}

function toList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

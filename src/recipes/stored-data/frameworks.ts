// Frameworks whose settings say where they keep a database: Prisma, Rails and Laravel.
import { posix } from 'node:path'
import type { Tree } from '../tree.ts'
import type { FoundPath, Home } from './paths.ts'

export interface FrameworkDatabase {
  name: string
  found: FoundPath
  /** Whether the source names the file, rather than a variable alone. */
  isNamed: boolean
  /** The folder from which a relative file in the variable counts. */
  base: string
}

export function findFrameworkDatabase(tree: Tree, isOwn: (path: string) => boolean, home: Home) {
  return findPrisma(tree, isOwn, home) ?? findRails(tree, home) ?? findLaravel(tree, home)
}

/** Its addresses count from the folder of the schema. */
function findPrisma(tree: Tree, isOwn: (path: string) => boolean, home: Home): FrameworkDatabase | null {
  for (const file of tree.find(/\.prisma$/).filter(isOwn)) {
    const [, source = ''] = /^datasource\s+\w+\s*\{([^}]{0,2000})\}/m.exec(tree.text(file)) ?? []
    if (!/\bprovider\s*=\s*"sqlite"/.test(source)) continue
    const [, path] = /\burl\s*=\s*"file:([^"?]{1,200})/.exec(source) ?? []
    const [, variable = path ? null : 'DATABASE_URL'] = /\burl\s*=\s*env\("(\w{1,60})"\)/.exec(source) ?? []
    const folder = posix.join(home.top, posix.dirname(file))
    const found = { path: posix.resolve(folder, path ?? 'dev.db'), file, variable }
    return { name: 'Prisma with SQLite', found, isNamed: path !== undefined, base: folder }
  }
  return null
}

/** The section for production, with the one that it includes. */
function findRails(tree: Tree, home: Home): FrameworkDatabase | null {
  const file = 'config/database.yml'
  const text = tree.text(file)
  const section = (name: string) =>
    new RegExp(`^${name}:.*\\n((?:[ \\t]+.*\\n|\\s*\\n|#.*\\n)*)`, 'm').exec(`${text}\n`)?.[1] ?? ''
  const [own, shared] = [section('production'), section('default')]
  const adapter = /^\s+adapter:\s*(\w+)/m
  const [, name] = adapter.exec(own) ?? adapter.exec(shared) ?? []
  if (name !== 'sqlite3' || /^\s+url:/m.test(own)) return null
  const [, path = 'storage/production.sqlite3'] = /^\s+database:\s*["']?([\w./-]+\.\w+)/m.exec(own) ?? []
  const found = { path: posix.resolve(home.folder, path), file, variable: 'DATABASE_URL' }
  return { name: 'Rails with SQLite', found, isNamed: true, base: home.folder }
}

/** SQLite is what it takes unless DB_CONNECTION names another one. */
function findLaravel(tree: Tree, home: Home): FrameworkDatabase | null {
  const file = 'config/database.php'
  const isDefault = /['"]default['"]\s*=>\s*env\(\s*['"]DB_CONNECTION['"],\s*['"]sqlite['"]/.test(
    tree.text(file),
  )
  const path = posix.join(home.folder, 'database/database.sqlite')
  if (!isDefault || !tree.has('artisan')) return null
  const found = { path, file, variable: 'DB_DATABASE' }
  return { name: 'Laravel with SQLite', found, isNamed: true, base: home.folder }
}

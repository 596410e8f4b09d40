// The libraries of a source that keep a database in files of the app, and those that use a server of its own.
import { toObject } from '../json.ts'
import { readNames } from '../languages/python/packages.ts'
import { readGems } from '../languages/ruby/gems.ts'
import type { Tree } from '../tree.ts'
import type { Program } from './paths.ts'

export interface Library {
  name: string
  /** It is also used in other ways, so a file must be named. */
  needsFile: boolean
}

const words = (text: string) => new Set(text.split(/\s+/))

const inFiles = words(`better-sqlite3 better-sqlite3-multiple-ciphers sqlite sqlite3 @seald-io/nedb nedb
  nedb-promises @libsql/client libsql rusqlite`)
const modulesInFiles = words(`github.com/mattn/go-sqlite3 modernc.org/sqlite github.com/glebarez/sqlite
  github.com/glebarez/go-sqlite gorm.io/driver/sqlite github.com/ncruces/go-sqlite3
  github.com/pocketbase/pocketbase`)
/** They take the address of any database. */
const byAddress = 'flask-sqlalchemy sqlmodel sqlalchemy databases tortoise-orm peewee pony'.split(' ')
const onServers = words(`pg postgres mysql mysql2 mariadb mongodb mongoose mssql tedious trilogy
  @neondatabase/serverless psycopg psycopg2 psycopg2-binary asyncpg pymysql mysqlclient
  github.com/lib/pq github.com/jackc/pgx github.com/go-sql-driver/mysql`)
/** What a program shows that needs no package. */
const inPrograms = [
  /(?:from|require\(|import\()\s?["'](node:sqlite|bun:sqlite)["']/,
  /["'](?:jsr|npm|https):[^"'\n]{0,60}\b(sqlite3?)\b/,
  /^[ \t]{0,8}(?:import|from) (sqlite3|aiosqlite|apsw)\b/m,
  /new \\?(SQLite3)\(|new \\?PDO\(\s?["'](sqlite):/,
]

/** The packages that the app itself has where it runs, by the names of their managers. */
export function listPackages(tree: Tree, isOwn: (path: string) => boolean): string[] {
  const manifests = tree.find(/^([^/]+\/)*package\.json$/).filter(isOwn)
  return [
    ...manifests.flatMap((path) => Object.keys(toObject(tree.json(path).dependencies))),
    ...readNames(tree),
    ...(tree.has('Gemfile') ? listGems(tree) : []),
    ...listCrates(tree, isOwn),
    ...listModules(tree),
  ]
}

/** Without those of groups for development. */
function listGems(tree: Tree): string[] {
  const text = tree.text('Gemfile').replace(/^group .{0,99}:(?:development|test)[\s\S]*?^end$/gm, '')
  const asked = [...text.matchAll(/^\s*gem[\s(]+["']([\w.-]+)["'](?![^\n]{0,99}group:)/gm)].map(
    ([, name = '']) => name,
  )
  const locked = readGems(tree)
  return asked.filter((name) => locked.size === 0 || locked.has(name))
}

function listCrates(tree: Tree, isOwn: (path: string) => boolean): string[] {
  const tables = tree
    .find(/(^|\/)Cargo\.toml$/)
    .filter(isOwn)
    .map((path) => toObject(tree.toml(path).dependencies))
  return tables.flatMap((table) =>
    Object.entries(table).map(([name, wish]) => (/"sqlite/.test(JSON.stringify(wish)) ? 'rusqlite' : name)),
  )
}

/** Without those that only others need. */
function listModules(tree: Tree): string[] {
  const lines = [...tree.text('go.mod').matchAll(/^(?:require)?\s+(\S+) v\S+[ \t]*$/gm)]
  return lines.map(([, module = '']) => module.replace(/\/v\d+$/, ''))
}

export function findLibrary(tree: Tree, packages: string[], programs: Program[]): Library | null {
  const isJar = (path: string) => /\bsqlite-jdbc\b/.test(tree.text(path))
  const name =
    packages.find((one) => inFiles.has(one) || modulesInFiles.has(one)) ??
    (tree.find(/(^|\/)(pom\.xml|build\.gradle(\.kts)?)$/).some(isJar) ? 'sqlite-jdbc' : undefined)
  if (name) return { name, needsFile: name.includes('libsql') }
  if (programs.some(({ text }) => /["']django\.db\.backends\.sqlite3["']/.test(text)))
    return { name: 'Django', needsFile: true }
  const found = programs.flatMap(({ text }) => inPrograms.flatMap((one) => one.exec(text)?.slice(1) ?? []))
  const [shown] = found.filter((one) => one !== undefined)
  if (shown) return { name: shown, needsFile: false }
  const general = byAddress.find((one) => packages.includes(one))
  return general ? { name: `SQLite by ${general}`, needsFile: true } : null
}

export function usesServer(packages: string[]): boolean {
  return packages.some((name) => onServers.has(name))
}

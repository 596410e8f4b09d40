// What an app keeps in files next to its code, as a database of SQLite or uploads: each new instance begins
// without it, unless it is on a disk.
import { posix } from 'node:path'
import type { Stage, StoredData } from '../recipe.ts'
import type { Tree } from '../tree.ts'
import { type FrameworkDatabase, findFrameworkDatabase } from './frameworks.ts'
import { findLibrary, listPackages, usesServer } from './libraries.ts'
import { findDatabases, type Home, type Program, toProgram } from './paths.ts'
import { findUploads, type Uploads } from './uploads.ts'

const maxShown = 3
const code = /\.([cm]?[jt]sx?|py|go|rb|php|rs|java|kt|properties|ya?ml)$/
/** Not what runs: tests, tools, and what is built or copied from others. */
const asideFolders =
  `node_modules vendor test tests __tests__ spec e2e fixtures example examples doc docs scripts
  tools seed seeds migration migrations dist build target coverage`.split(/\s+/)
const aside = [
  new RegExp(`(^|/)([._][^/]*|${asideFolders.join('|')})/`),
  /[._](test|spec|min|d|stories)\.\w+$|(^|\/)(test_[^/]*|conftest\.py)$/,
  /(^|\/)(dev|local|test|development|testing)\.\w+$/,
]

/** Of the app alone: `others` are folders that it does not need. */
export function findStoredData(tree: Tree, stages: Stage[], others: string[]): StoredData[] {
  const home = findHome(stages)
  if (home === null) return []
  const isOwn = (path: string) =>
    !aside.some((one) => one.test(path)) && !others.some((folder) => path.startsWith(`${folder}/`))
  const programs = tree
    .find(code)
    .filter((path) => isOwn(path) && tree.text(path) !== '')
    // Settings of Java need no quotes.
    .map((path) => toProgram(path, tree.text(path).replace(/[=:] ?(jdbc:[^\s"']+)$/gm, '="$1"')))
  const uploads = findUploads(tree, programs, home, isOwn).map((found) => toFiles(home, found))
  const all = [...findDatabase(tree, programs, home, isOwn), ...uploads]
  return all
    .filter(({ path }, index) => all.findIndex((one) => one.path === path) === index)
    .slice(0, maxShown)
}

/** The last stage has the folder of the app in its image. Pages alone keep nothing. */
function findHome(stages: Stage[]): Home | null {
  const folders = stages.at(-1)?.steps.flatMap((step) => (step.do === 'workdir' ? [step.path] : [])) ?? []
  const folder = folders.at(-1)
  return folder === undefined ? null : { top: folder.startsWith('/app/') ? '/app' : folder, folder }
}

function findDatabase(
  tree: Tree,
  programs: Program[],
  home: Home,
  isOwn: (path: string) => boolean,
): StoredData[] {
  const framework = findFrameworkDatabase(tree, isOwn, home)
  if (framework) return [toDatabase(tree, home, framework)]
  const packages = listPackages(tree, isOwn)
  const library = findLibrary(tree, packages, programs)
  // What Rails uses in production is in its settings.
  if (library === null || tree.has('config/database.yml')) return []
  const { name } = library
  const hasInstance = packages.includes('flask-sqlalchemy')
  const found = programs.flatMap((program) => {
    const isInInstance = hasInstance && /sqlite:\/\/\/[\w.]/.test(program.text)
    return findDatabases(
      program,
      isInInstance ? { ...home, folder: posix.join(home.folder, 'instance') } : home,
    )
  })
  if (found.length > 0)
    return found.map((one) => toDatabase(tree, home, { name, found: one, isNamed: true, base: home.folder }))
  const isFleeting = programs.some(({ text }) => /:memory:|\breadonly\s?:\s?true/i.test(text))
  if (library.needsFile || isFleeting || usesServer(packages)) return []
  const reason = `${name} keeps its data in files, and the source does not show where`
  const disk = posix.join(home.folder, name.includes('pocketbase') ? 'pb_data' : 'data')
  return [{ kind: 'database', library: name, path: null, variable: null, base: home.folder, disk, reason }]
}

function toDatabase(
  tree: Tree,
  home: Home,
  { name: library, found, isNamed, base }: FrameworkDatabase,
): StoredData {
  const { path, file, variable } = found
  const own = posix.dirname(path)
  const isBeside = !isNamed || isCode(tree, home, own)
  const disk = isBeside ? posix.join(home.folder, 'data') : own
  const where = isNamed ? `${path} (${file})` : `the file that ${variable} names`
  const move = variable ? `let ${variable} name a file in ${disk}` : `let it be in ${disk}`
  const advice = isNamed ? `, next to the code: ${move}` : `: ${move}`
  const reason = `${library} keeps its data in ${where}${isBeside ? advice : ''}`
  return { kind: 'database', library, path: isNamed ? path : null, variable, base, disk, reason }
}

function toFiles(home: Home, { name: library, found: { path, file, variable } }: Uploads): StoredData {
  const isHome = `${home.folder}/`.startsWith(`${path}/`)
  const disk = isHome ? posix.join(home.folder, 'data') : path
  const reason = `${library} keeps uploads in ${path} (${file})${isHome ? ', next to the code' : ''}`
  return { kind: 'files', library, path, variable, base: home.folder, disk, reason }
}

/** Whether a disk there would hide files of the source. */
function isCode(tree: Tree, { top, folder }: Home, path: string): boolean {
  if (`${folder}/`.startsWith(`${path}/`)) return true
  const inside = `${posix.relative(top, path)}/`
  return [...tree.files].some(
    (file) => file.startsWith(inside) && !/^\.|\.(db|sqlite3?)(-\w+)?$/.test(posix.basename(file)),
  )
}

// Finds the folders of a source that are apps of their own.
import { posix } from 'node:path'
import type { Facts } from './facts.ts'
import { languages } from './languages/index.ts'
import type { Tree } from './tree.ts'

const maxApps = 20
const maxDepth = 3
/** Each is looked at on its own, which costs time for every file of the source. */
const maxFolders = 200
const aside = /(^|\/)(tests?|__tests__|fixtures|examples?|docs?|samples?|templates?|scripts|tools|e2e)(\/|$)/

/** Folders below the app's folder in which a language is found, those nearest to the top first. */
export function findApps({ app, rootDir }: Facts): string[] {
  const apps: string[] = []
  for (const folder of listCandidates(app).slice(0, maxFolders)) {
    const isInside = apps.some((found) => folder.startsWith(`${found}/`))
    if (!isInside && languages.some(({ isHere }) => isHere(app.in(folder)))) apps.push(folder)
    if (apps.length === maxApps) break
  }
  return apps.map((folder) => posix.join(rootDir, folder))
}

/** The folders with a file that shows a language. */
function listCandidates(app: Tree): string[] {
  const evidence = languages.flatMap((language) => language.evidence.map((file) => `/${file}`))
  const folders = [...app.files].flatMap((path) =>
    evidence.filter((file) => path.endsWith(file)).map((file) => path.slice(0, -file.length)),
  )
  const depth = (folder: string) => folder.split('/').length
  const near = [...new Set(folders)].filter((folder) => depth(folder) <= maxDepth && !aside.test(folder))
  return near.sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1))
}

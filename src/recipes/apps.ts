// Finds the folders of a source that are apps of their own.
import { posix } from 'node:path'
import type { Facts } from './facts.ts'
import { languages } from './languages/index.ts'

const maxApps = 20
const maxDepth = 3

/** Folders below the app's folder in which a language is found, those nearest to the top first. */
export function findApps({ app, rootDir }: Facts): string[] {
  const folders = new Set([...app.files].map((path) => posix.dirname(path)))
  const near = [...folders].filter((folder) => folder !== '.' && folder.split('/').length <= maxDepth)
  near.sort((one, other) => one.split('/').length - other.split('/').length || (one < other ? -1 : 1))
  const apps: string[] = []
  for (const folder of near) {
    const isInside = apps.some((found) => folder.startsWith(`${found}/`))
    if (!isInside && languages.some(({ isHere }) => isHere(app.in(folder)))) apps.push(folder)
    if (apps.length === maxApps) break
  }
  return apps.map((folder) => posix.join(rootDir, folder))
}

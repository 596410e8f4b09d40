// The repository as plain data, so that a rule can be tried on three lines as well as on all of it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every file's path (`src/main.ts`) and text. */
export type Tree = ReadonlyMap<string, string>

export interface Finding {
  path: string
  line: number
  text: string
}

export type Rule = (tree: Tree) => Finding[]

const ignored = new Set(['.git', '.cache', 'node_modules', 'dist'])

/** Reads all that git would keep. */
export function readTree(home: string): Tree {
  const tree = new Map<string, string>()
  const visit = (folder: string) => {
    for (const entry of readdirSync(join(home, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (ignored.has(entry.name) || entry.name.endsWith('.log')) continue
      if (entry.isDirectory()) visit(path)
      else tree.set(path, entry.isFile() ? readFileSync(join(home, path), 'utf8') : '')
    }
  }
  visit('')
  return tree
}

export const product = ['src/', 'machines/', 'storage/']

/** Our own TypeScript: not the fixtures, which stand for what users write. */
export function sources(tree: Tree, folders = [...product, 'test/']): [string, string][] {
  const isOurs = (path: string) => folders.some((folder) => path.startsWith(folder))
  return [...tree].filter(
    ([path]) => isOurs(path) && /\.tsx?$/.test(path) && !path.startsWith('test/fixtures/'),
  )
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

export function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

export function describeFinding({ path, line, text }: Finding): string {
  return `${path}:${line} ${text}`
}

// The hand-written pages of the manual, and the commands in their code blocks.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { referencePages } from './reference.ts'

export const home = join(import.meta.dirname, '../../..')

const handwritten = readdirSync(join(home, 'docs')).filter(
  (name) => name.endsWith('.md') && !(name in referencePages()),
)
export const manualPages = ['README.md', 'machines/README.md', ...handwritten.map((name) => `docs/${name}`)]

export function readPage(path: string): string {
  return readFileSync(join(home, path), 'utf8')
}

/** The lines of the code blocks, without comments. A line that ends with `\` continues. */
export function linesIn(page: string): string[] {
  const blocks = [...readPage(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
  const shells = blocks.flatMap(([, language, text]) => (language === '' || language === 'sh' ? [text!] : []))
  return shells.flatMap((block) => block.replace(/\\\n\s*/g, '').split('\n')).map(withoutComment)
}

/** The lines that run `berth`, also behind a pipe. */
export function berthLinesIn(page: string): string[] {
  return linesIn(page).filter((line) => /(^|[|;] *)berth /.test(line))
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s+)#.*$/, '').trim()
}

/** The files of a page's example: each is named by a line like "`server.js`:" before its code block. */
export function exampleIn(page: string): Record<string, string> {
  const blocks = readPage(page).matchAll(/^`([\w./-]+)`:\n\n```\w*\n([\s\S]*?)^```$/gm)
  return Object.fromEntries([...blocks].map(([, path, text]) => [path!, text!]))
}

/** What a page says that `berth recipe` says of its example. */
export function recipeIn(page: string): string {
  return /says:\n\n```text\n([\s\S]*?)^```$/m.exec(readPage(page))?.[1] ?? ''
}

// Writes the table of JavaScript frameworks that recipes read. `npm run frameworks`
import { writeFileSync } from 'node:fs'
import { frameworkRows } from './support/recipes/framework-rows.ts'

const head = `// The frameworks as Vercel describes them. \`npm run frameworks\` writes this file.

export interface FrameworkRow {
  name: string
  /** One of each group must be there. */
  packages: string[][]
  build: string
  /** The folder of its pages. */
  output?: string
  /** Of variables that end up in pages. */
  prefix?: string
}

export const frameworkTable: Record<string, FrameworkRow> = `

const path = new URL('../src/recipes/languages/node/framework-table.ts', import.meta.url)
writeFileSync(path, `${head}${JSON.stringify(frameworkRows())}\n`)

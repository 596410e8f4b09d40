// Public sources, what a recipe must make of each, and what was seen here. Their trees are not part of this
// repository: BERTH_FIXTURES names a folder with one folder per fixture, and Railpack's plans in `plans`.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Expectation } from '../support/recipes/kitchen.ts'

export interface Fixture {
  group: string
  name: string
  /** `owner/repo@commit path` */
  source: string
  title: string
  /** Parts of the commands of the build, in order. */
  runs: string[]
  /** The command, or `pages FOLDER`; empty if it does not matter. */
  starts: string
  port: number | null
  says: Expectation | { fails: string } | null
  /** Built and asked, only read, or refused as the note says. */
  result: 'served' | 'checked' | 'refused'
  note: string
  /** Where other tools see something else, as `fly starts`. */
  differs: string[]
}

const table = fileURLToPath(new URL('../fixtures/recipes.tsv', import.meta.url))

export const fixturesFolder = process.env.BERTH_FIXTURES ?? ''
export const skipsFixtures =
  fixturesFolder === '' && 'BERTH_FIXTURES names no folder with the trees of test/fixtures/recipes.tsv'

export function readFixtures(): Fixture[] {
  const [, ...rows] = readFileSync(table, 'utf8').trimEnd().split('\n')
  return rows.map((row) => {
    const [group = '', name = '', source = '', title = '', runs = '', starts = '', ...rest] = row.split('\t')
    const [port = '', says = '', result = '', note = '', differs = ''] = rest
    return {
      group,
      name,
      source,
      title,
      runs: runs.split('; ').filter(Boolean),
      starts,
      port: port === '' ? null : Number(port),
      says: readExpectation(says),
      result: result as Fixture['result'],
      note,
      differs: differs.split('; ').filter(Boolean),
    }
  })
}

/** `200 /path text`, `prints text`, `fails text` */
function readExpectation(says: string): Fixture['says'] {
  const [, how = '', rest = ''] = /^(\S+) (.*)$/.exec(says) ?? []
  if (how === '') return null
  if (how === 'prints') return { prints: rest }
  if (how === 'fails') return { fails: rest }
  const [path = '', ...words] = rest.split(' ')
  return { path, status: Number(how), text: words.join(' ') }
}

export function treeOf({ name }: Fixture): string {
  return join(fixturesFolder, name)
}

/** Null if Railpack has none. */
export function readPlan({ name }: Fixture) {
  const path = join(fixturesFolder, 'plans', `${name}.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

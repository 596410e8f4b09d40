// The manual: generated pages are current, links lead somewhere, and commands exist.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../src/config/config.ts'
import { commandWords, programThat, referencePages } from './support/reference.ts'

const home = join(import.meta.dirname, '..')
const handwritten = readdirSync(join(home, 'docs')).filter((name) => !(name in referencePages()))
const pages = ['README.md', 'machines/README.md', ...handwritten.map((name) => `docs/${name}`)]
const read = (path: string) => readFileSync(join(home, path), 'utf8')

/** The lines of code blocks, without comments. A line that ends with `\` continues. */
function commandsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```(?:sh)?\n([\s\S]*?)^```/gm)].map(([, block]) => block!)
  return blocks.flatMap((block) => block.replace(/\\\n\s*/g, '').split('\n')).map(withoutComment)
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s+)#.*$/, '').trim()
}

/** As GitHub makes them. */
function anchorsIn(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!.toLowerCase())
  return new Set(headings.map((heading) => heading.replace(/[^\w\- ]/g, '').replaceAll(' ', '-')))
}

test('the generated pages say what the program says (npm run docs writes them)', () => {
  for (const [name, text] of Object.entries(referencePages())) assert.equal(read(`docs/${name}`), text, name)
})

test('every link of the manual leads to a file and a heading', () => {
  let count = 0
  for (const page of [...pages, ...Object.keys(referencePages()).map((name) => `docs/${name}`)]) {
    for (const [, target] of read(page).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(target!)) continue
      const [path, anchor] = target!.split('#')
      const file = path === '' ? page : join(dirname(page), path!)
      assert.ok(existsSync(join(home, file)), `${page} links to ${target}`)
      if (anchor) assert.ok(anchorsIn(read(file)).has(anchor), `${page} links to ${target}`)
      count += 1
    }
  }
  assert.ok(count > 60)
})

test('the manual lists all of its pages', () => {
  const contents = read('docs/README.md')
  const names = readdirSync(join(home, 'docs')).filter((name) => name !== 'README.md')
  assert.deepEqual(
    names.filter((name) => !contents.includes(`(${name})`)),
    [],
  )
})

test('every file that the manual names exists', () => {
  for (const page of pages) {
    for (const [, path] of read(page).matchAll(/`((?:src|machines|storage|test|systemd|docs)\/[\w./-]*)`/g)) {
      // `KIND` stands for any kind of actor.
      assert.ok(path!.includes('KIND') || existsSync(join(home, path!)), `${page} names ${path}`)
    }
  }
})

test('every berth command of the manual can be run as it stands', async () => {
  let count = 0
  for (const page of pages) {
    for (const line of commandsIn(read(page)).filter((one) => /(^|[|;] *)berth /.test(one))) {
      let isReached = false
      await programThat(() => {
        isReached = true
      })
        .parseAsync(commandWords(line), { from: 'user' })
        .catch((error: { code?: string }) => {
          isReached = error.code === 'commander.helpDisplayed'
        })
      assert.ok(isReached, `${page}: ${line}`)
      count += 1
    }
  }
  assert.ok(count > 50)
})

test('every berthd command of the manual is accepted', () => {
  let count = 0
  for (const page of pages) {
    for (const line of commandsIn(read(page)).filter((one) => one.startsWith('berthd --'))) {
      assert.doesNotThrow(() => readConfig(line.split(/\s+/).slice(1), {}), `${page}: ${line}`)
      count += 1
    }
  }
  assert.ok(count >= 5)
})

test('every npm script of the manual exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const page of pages) {
    for (const [, name] of read(page).matchAll(/npm run ([a-z]+)/g))
      assert.ok(name! in scripts, `${page}: ${name}`)
  }
})

// The manual: generated pages are current, links lead somewhere, and commands exist.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../src/config/config.ts'
import { berthLinesIn, exampleIn, home, linesIn, manualPages, readPage } from './support/http/manual.ts'
import { commandWords, programThat, referencePages } from './support/http/reference.ts'
import { readTree, sources } from './support/tidy/tree.ts'

/** As GitHub makes them. */
function anchorsIn(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!.toLowerCase())
  return new Set(headings.map((heading) => heading.replace(/[^\w\- ]/g, '').replaceAll(' ', '-')))
}

test('the generated pages match the program (npm run docs writes them)', () => {
  for (const [name, text] of Object.entries(referencePages()))
    assert.equal(readPage(`docs/${name}`), text, name)
})

test('every link of the manual points to an existing file and heading', () => {
  let count = 0
  const generated = Object.keys(referencePages()).filter((name) => name.endsWith('.md'))
  for (const page of [...manualPages, ...generated.map((name) => `docs/${name}`)]) {
    for (const [, target] of readPage(page).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https?:/.test(target!)) continue
      const [path, anchor] = target!.split('#')
      const file = path === '' ? page : join(dirname(page), path!)
      assert.ok(existsSync(join(home, file)), `${page} links to ${target}`)
      if (anchor) assert.ok(anchorsIn(readPage(file)).has(anchor), `${page} links to ${target}`)
      count += 1
    }
  }
  assert.ok(count > 60)
})

test('every page of the manual that a hint names exists, with its heading', () => {
  let count = 0
  for (const [path, text] of sources(readTree(home))) {
    for (const [, name, anchor] of text.matchAll(/manual: \/docs\/([\w-]+)(?:#([\w-]+))?/g)) {
      const page = `docs/${name}.md`
      assert.ok(existsSync(join(home, page)), `${path} names ${page}`)
      if (anchor) assert.ok(anchorsIn(readPage(page)).has(anchor), `${path} names ${page}#${anchor}`)
      count += 1
    }
  }
  assert.ok(count >= 8)
})

test('the manual lists all of its pages', () => {
  const contents = readPage('docs/README.md')
  const names = readdirSync(join(home, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  assert.deepEqual(
    names.filter((name) => !contents.includes(`(${name})`)),
    [],
  )
})

test('every file that the manual names exists', () => {
  for (const page of manualPages) {
    for (const [, path] of readPage(page).matchAll(
      /`((?:src|machines|storage|test|systemd|docs)\/[\w./-]*)`/g,
    )) {
      // `KIND` stands for any kind of actor. An example has files of its own.
      const isOther = path!.includes('KIND') || Object.hasOwn(exampleIn(page), path!)
      assert.ok(isOther || existsSync(join(home, path!)), `${page} names ${path}`)
    }
  }
})

test('every berth command of the manual parses as written', async () => {
  let count = 0
  for (const page of manualPages) {
    for (const line of berthLinesIn(page)) {
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
  for (const page of manualPages) {
    for (const line of linesIn(page).filter((one) => one.startsWith('berthd --'))) {
      assert.doesNotThrow(() => readConfig(line.split(/\s+/).slice(1), {}), `${page}: ${line}`)
      count += 1
    }
  }
  assert.ok(count >= 4)
})

test('every npm script of the manual exists', () => {
  const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> }
  for (const page of manualPages) {
    for (const [, name] of readPage(page).matchAll(/npm run ([a-z]+)/g))
      assert.ok(name! in scripts, `${page}: ${name}`)
  }
})

// How much a browser loads, from the manifest of the build: exact, on every machine.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ensureDashboard } from '../support/dashboard/build.ts'

interface Chunk {
  file: string
  isDynamicEntry?: boolean
  imports?: string[]
  css?: string[]
  assets?: string[]
}

const folder = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))
const sizeOf = (file: string) => statSync(join(folder, file)).size
const compressed = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + sizeOf(`${file}.gz`), 0) / 1000

test('pages of the dashboard stay small', async (t) => {
  await ensureDashboard()
  const manifest: Record<string, Chunk> = JSON.parse(
    readFileSync(join(folder, '.vite/manifest.json'), 'utf8'),
  )

  /** The files of a chunk and of what it imports. */
  function filesOf(name: string, seen = new Set<string>()): Set<string> {
    const { file, imports = [], css = [] } = manifest[name]!
    for (const one of [file, ...css]) seen.add(one)
    for (const one of imports) if (!seen.has(manifest[one]!.file)) filesOf(one, seen)
    return seen
  }

  const first = filesOf('index.html')
  const styles = Object.values(manifest).flatMap(({ file }) => (file.endsWith('.css') ? [file] : []))
  const scripts = [...first].filter((file) => file.endsWith('.js'))
  const font = Object.values(manifest).find(({ file }) => /-latin-wght-normal-.*woff2$/.test(file))!
  const figures = {
    scripts: compressed(scripts),
    styles: compressed(styles),
    font: sizeOf(font.file) / 1000,
  }
  t.diagnostic(`the first page, in kB: ${JSON.stringify(figures)}`)
  assert.ok(figures.scripts <= 131, `${figures.scripts} kB of scripts`)
  assert.ok(figures.styles <= 15, `${figures.styles} kB of styles`)
  assert.ok(figures.font <= 35, `${figures.font} kB of type`)

  const pages = Object.keys(manifest).filter((name) => manifest[name]!.isDynamicEntry)
  assert.ok(pages.length > 3)
  for (const page of pages) {
    const added = compressed([...filesOf(page)].filter((file) => !first.has(file)))
    if (page.endsWith('.tsx')) t.diagnostic(`${page}: ${added.toFixed(1)} kB`)
    assert.ok(added <= 40, `${page} adds ${added} kB`)
  }
})

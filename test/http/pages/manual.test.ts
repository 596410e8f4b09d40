// The manual in the browser: every page of `docs/`, whose links lead to other pages of it.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { startPages } from '../../support/http/pages.ts'

const names = readdirSync(new URL('../../../docs', import.meta.url)).flatMap((name) =>
  name.endsWith('.md') ? [name.slice(0, -3)] : [],
)

test('every page of the manual is served without an account, and its links work', async (t) => {
  const { get } = await startPages(t)
  const paths = names.map((name) => (name === 'README' ? '/docs' : `/docs/${name}`))
  const pages = new Map(await Promise.all(paths.map(async (path) => [path, await get(path)] as const)))
  let count = 0
  for (const [path, { status, html }] of pages) {
    assert.equal(status, 200, path)
    assert.match(html, /<h1 id="[\w-]+">/)
    const article = /<article>[\s\S]*<\/article>/.exec(html)![0]
    const unlinked = article.replace(/<(a|code)\b[\s\S]*?<\/\1>/g, '')
    assert.doesNotMatch(unlinked, /docs\/[a-z-]+\.md/, path)
    for (const [, href] of article.matchAll(/<a href="([^"]+)"/g)) {
      if (href!.startsWith('https://')) continue
      const [file = '', anchor] = href!.split('#')
      const target = pages.get(file || path)
      assert.ok(target, `${path} links to ${href}`)
      if (anchor) assert.ok(target.html.includes(` id="${anchor}"`), `${path} links to ${href}`)
      count += 1
    }
  }
  assert.ok(count > 30, `${count} links`)
})

test('an unknown page of the manual is not found, and no other file is served', async (t) => {
  const { get, url } = await startPages(t)
  const missing = await get('/docs/nothing')
  assert.equal(missing.status, 404)
  assert.match(missing.html, /\/docs lists all pages/)
  for (const path of [
    '/docs/..%2fpackage',
    '/docs/../package.json',
    '/docs/%2e%2e%2fREADME',
    '/docs/README',
  ]) {
    const response = await fetch(`${url}${path}`, { redirect: 'manual' })
    assert.doesNotMatch(await response.text(), /"dependencies"|# Berth/)
    assert.notEqual(response.status, 500)
  }
})

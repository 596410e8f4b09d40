// The dashboard's document and files, as the server sends them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dashboard } from '../../../src/http/pipeline/context.ts'
import { StaticFile } from '../../../src/http/server/static-file.ts'
import { startApi } from '../../support/http/http-context.ts'
import { signUp } from '../../support/http/session.ts'

const bodies = { plain: Buffer.from('plain'), br: Buffer.from('br'), gzip: Buffer.from('gzip') }
const dashboard: Dashboard = {
  document: '<!doctype html><html lang="en"><title>Berth</title>',
  build: 'b1',
  files: new Map([['index-1.js', new StaticFile('text/javascript; charset=utf-8', bodies)]]),
}

test('its document needs a session, and allows nothing inline and nothing from elsewhere', async (t) => {
  const api = await startApi(t, { dashboard })
  api.storage.setupCode.ensure()
  const session = await signUp(api.url, api.storage.directory)
  const open = (path: string, headers: Record<string, string>) =>
    fetch(api.url + path, { headers, redirect: 'manual' })

  const visitor = await open('/services/shop', {})
  assert.equal(visitor.headers.get('location'), '/login?next=%2Fservices%2Fshop')
  const underServices = ['/services', '/services/shop', '/services/shop/jobs', '/services/shop/deploys/dep-1']
  const charts = ['/charts', '/charts/deploy', '/charts/deploy/dep-1']
  for (const path of [...underServices, ...charts, '/activity', '/datastores/db', '/sources', '/server']) {
    const response = await open(path, session)
    const document = await response.text()
    assert.equal(document.replace(/ data-build="b1" data-change="\d+"/, ''), dashboard.document)
    const policy = response.headers.get('content-security-policy')!
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
    assert.match(policy, /require-trusted-types-for 'script'/)
    assert.equal(response.headers.get('cache-control'), 'no-store')
  }
  assert.equal((await open('/', session)).headers.get('location'), '/services')
})

test('the chosen theme is in each page, and nothing else of that cookie', async (t) => {
  const api = await startApi(t, { dashboard })
  api.storage.setupCode.ensure()
  const session = await signUp(api.url, api.storage.directory)
  const htmlOf = async (path: string, theme: string) => {
    const cookie = `${session.cookie}; berth_theme=${theme}`
    const text = await (
      await fetch(api.url + path, { headers: { ...session, cookie, accept: 'text/html' } })
    ).text()
    return /<html[^>]*>/.exec(text)![0].replace(/ data-(build|change)="\w+"/g, '')
  }

  for (const path of ['/services', '/account', '/nowhere']) {
    assert.equal(await htmlOf(path, 'dark'), '<html data-theme="dark" lang="en">')
    for (const theme of ['', 'blue', 'dark"onload="x', 'darker']) {
      assert.equal(await htmlOf(path, theme), '<html lang="en">')
    }
  }
})

test('its files are sent in the encoding that the browser accepts, to be kept for a year', async (t) => {
  const { url } = await startApi(t, { dashboard })
  for (const [accepted, sent] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const) {
    const response = await fetch(`${url}/assets/index-1.js`, { headers: { 'accept-encoding': accepted } })
    assert.equal(response.headers.get('content-encoding'), sent)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    await response.body?.cancel().catch(() => undefined)
  }
  assert.equal((await fetch(`${url}/assets/index-2.js`)).status, 404)
  assert.equal((await fetch(`${url}/assets/..%2findex.html`)).status, 404)
})

test('a server without a built dashboard says how to build it', async (t) => {
  const api = await startApi(t)
  api.storage.setupCode.ensure()
  const session = await signUp(api.url, api.storage.directory)
  const response = await fetch(`${api.url}/services`, { headers: session })
  assert.match(await response.text(), /npm run build/)
})

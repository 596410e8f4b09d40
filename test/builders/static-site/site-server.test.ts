// The image that static sites are put into, as a browser and as a stranger meet it.
// The last test stops the server that the others ask.
import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { inspectImage } from '../../../src/docker/images/images.ts'
import { servedSite } from '../../support/docker/served-site.ts'

const home = `<!doctype html><title>Home</title>${'<p>Hello</p>'.repeat(100)}`
const script = 'console.log("hello")\n'.repeat(100)
const large = 'x'.repeat(48 * 1024 * 1024)

const site = servedSite(
  {
    'index.html': home,
    'app.js': script,
    'module.mjs': script,
    'style.css': 'body {}',
    'packed.css': 'body {}',
    'packed.css.gz': 'packed before',
    'about.html': 'About',
    'docs/index.html': 'Docs',
    'docs/.draft.html': 'a draft',
    'bare/a.txt': 'a',
    'a b/ü.txt': 'named oddly',
    'app.wasm': 'code',
    'site.webmanifest': '{}',
    'data.strange': 'data',
    'large.bin': large,
    '.well-known/security.txt': 'Contact: mailto:a@b.c',
    '.well-known/.hidden': 'hidden',
    '.env': 'KEY=value',
    '.git/config': '[core]',
    'main.8a7b6c5d.css': 'body {}',
    'main.8a7b6c5d.html': 'a page',
    'report-20240101.pdf': 'a report',
    'assets/index-BsK2ZPQ1.js': script,
    'assets/header-carousel.js': script,
    '_next/static/chunks/main.js': script,
  },
  {
    links: {
      latest: 'docs',
      passwd: '/etc/passwd',
      environ: '/proc/self/environ',
      above: '../etc',
    },
  },
)
const branded = servedSite({ '404.html': 'Lost?', 'docs/a.txt': 'a' }, { port: 4000 })

test('text is compressed if the browser accepts it', async () => {
  const as = (encoding: string) => site.ask('/app.js', { headers: { 'Accept-Encoding': encoding } })
  const [plain, gzip] = await Promise.all(['identity', 'gzip, deflate, br'].map(as))

  assert.deepEqual(
    [plain, gzip].map((response) => response?.headers['content-encoding']),
    [undefined, 'gzip'],
  )
  assert.equal(gunzipSync(gzip!.body).toString(), script)
  assert.ok(gzip!.body.length < script.length / 2)
  for (const { headers } of [plain!, gzip!]) assert.equal(headers.vary, 'Accept-Encoding')
})

test('a precompressed file is sent as it is', async () => {
  const { headers, body } = await site.ask('/packed.css', { headers: { 'Accept-Encoding': 'gzip' } })

  assert.deepEqual(
    [headers['content-encoding'], headers['content-type']],
    ['gzip', 'text/css; charset=utf-8'],
  )
  assert.equal(body.toString(), 'packed before')
})

test('a current copy gets 304, by its tag or its time', async () => {
  const first = await site.ask('/app.js')
  const { etag, 'last-modified': time } = first.headers
  const packed = await site.ask('/app.js', { headers: { 'Accept-Encoding': 'gzip' } })
  const again = (headers: Record<string, string>) => site.ask('/app.js', { headers })

  const byTag = await again({ 'If-None-Match': String(etag) })
  const byPackedTag = await again({ 'If-None-Match': String(packed.headers.etag), 'Accept-Encoding': 'gzip' })
  const byTime = await again({ 'If-Modified-Since': String(time) })
  const other = await again({ 'If-None-Match': '"other"' })

  assert.deepEqual([byTag.status, byPackedTag.status, byTime.status, other.status], [304, 304, 304, 200])
  assert.equal(byTag.body.length, 0)
})

test('range requests are supported', async () => {
  const range = await site.ask('/app.js', { headers: { Range: 'bytes=8-10' } })
  const beyond = await site.ask('/app.js', { headers: { Range: 'bytes=99999999-' } })

  assert.deepEqual(
    [range.status, range.headers['content-range'], range.body.toString()],
    [206, `bytes 8-10/${script.length}`, 'log'],
  )
  assert.equal(beyond.status, 416)
})

test('every file has its content type', async () => {
  const types: Record<string, string> = {
    '/': 'text/html; charset=utf-8',
    '/module.mjs': 'text/javascript; charset=utf-8',
    '/style.css': 'text/css; charset=utf-8',
    '/app.wasm': 'application/wasm',
    '/site.webmanifest': 'application/manifest+json',
    '/data.strange': 'application/octet-stream',
  }
  for (const [path, type] of Object.entries(types)) {
    assert.equal((await site.ask(path)).headers['content-type'], type, path)
  }
})

test('only a name with a content hash is cached forever', async () => {
  const forever = 'public, max-age=31536000, immutable'
  const kept: Record<string, string> = {
    '/main.8a7b6c5d.css': forever,
    '/assets/index-BsK2ZPQ1.js': forever,
    '/_next/static/chunks/main.js': forever,
    '/main.8a7b6c5d.html': 'no-cache',
    '/assets/header-carousel.js': 'no-cache',
    '/report-20240101.pdf': 'no-cache',
    '/app.js': 'no-cache',
    '/': 'no-cache',
    '/gone.8a7b6c5d.css': 'no-cache',
  }
  for (const [path, caching] of Object.entries(kept)) {
    assert.equal((await site.ask(path)).headers['cache-control'], caching, path)
  }
})

test('a page is found with and without its extension, and a folder by its index', async () => {
  const pages: Record<string, string> = {
    '/about': 'About',
    '/about.html': 'About',
    '/docs/': 'Docs',
    '/latest/': 'Docs',
    '/a%20b/%C3%BC.txt': 'named oddly',
  }
  for (const [path, text] of Object.entries(pages)) {
    const { status, body } = await site.ask(path)
    assert.deepEqual([status, body.toString()], [200, text], path)
  }
  const redirect = await site.ask('/docs?a=1', { headers: { Host: 'shop.example.com' } })
  assert.deepEqual([redirect.status, redirect.headers.location], [301, '/docs/?a=1'])
})

test("a missing page is a 404 with the site's own page, or a plain one", async () => {
  for (const path of ['/none', '/none/', '/bare/', '/none.js', '/about/x']) {
    const { status, headers, body } = await site.ask(path)
    assert.deepEqual([status, headers['content-type']], [404, 'text/html; charset=utf-8'], path)
    assert.match(body.toString(), /There is no such page/)
  }
  const { status, body } = await branded.ask('/docs/')
  assert.deepEqual([status, body.toString()], [404, 'Lost?'])
})

test('HEAD is GET without the body, and uploads are refused', async () => {
  const whole = await site.ask('/app.js')
  const head = await site.ask('/app.js', { method: 'HEAD' })
  const { date: _, ...expected } = whole.headers
  const { date: __, ...found } = head.headers

  assert.deepEqual([head.status, found, head.body.length], [200, expected, 0])
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    assert.equal((await site.ask('/app.js', { method })).status, 405, method)
  }
})

test('dotfiles are not served, except those of .well-known', async () => {
  const paths = ['/.env', '/.git/config', '/.git/', '/%2eenv', '/docs/.draft.html', '/.well-known/.hidden']
  const found = await Promise.all(paths.map(site.status))

  assert.deepEqual(
    found,
    paths.map(() => 404),
  )
  assert.equal((await site.ask('/.well-known/security.txt')).body.toString(), 'Contact: mailto:a@b.c')
})

test('neither a path nor a link leaves the site', async () => {
  for (const path of ['/../etc/passwd', '/..%2f..%2fetc%2fpasswd', '/docs/%2e%2e/%2e%2e/etc/passwd']) {
    assert.equal(await site.status(path), 400, path)
  }
  for (const path of [
    '/passwd',
    '/environ',
    '/above/passwd',
    '/above/nginx/http.conf',
    '/docs/..%5c..%5cx',
  ]) {
    assert.equal(await site.status(path), 404, path)
  }
})

test('no response contains the version of the server', async () => {
  for (const [path, method] of [
    ['/', 'GET'],
    ['/none', 'GET'],
    ['/', 'POST'],
    ['/../', 'GET'],
  ] as const) {
    const { headers, body } = await site.ask(path, { method })
    assert.equal(headers.server, 'nginx')
    assert.doesNotMatch(body.toString(), /\d\.\d+\.\d/)
  }
})

test('the image exposes the port of the server, and runs without root', async () => {
  const { Config } = await site.engine.docker.getContainer(site.containerId).inspect()
  assert.equal(Config.User, '65534:65534')
  const { exposedPorts } = (await inspectImage(site.engine, Config.Image))!
  assert.deepEqual(exposedPorts, [80, 8080])
})

test('a stop lets downloads finish', async () => {
  const container = site.engine.docker.getContainer(site.containerId)
  const { NetworkSettings } = await container.inspect()
  const host = NetworkSettings.Networks.bridge!.IPAddress
  const download = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host, port: 8080, path: '/large.bin', agent: false }, resolve).on('error', reject)
  })

  const stopped = container.stop({ t: 60 })
  // Far more than was on its way already. The very end may be lost: what the kernel still holds goes with the
  // network of the container.
  let received = 0
  for await (const chunk of download) {
    received += chunk.length
    if (received > large.length / 2) break
  }
  await stopped

  assert.ok(received > large.length / 2)
  assert.equal((await container.inspect()).State.ExitCode, 0)
})

// An app of one page in the image of the static server, on a port that only root may have elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { servedSite } from '../../support/docker/served-site.ts'

const home = '<!doctype html><title>App</title>'
const script = 'console.log("hello")'
const app = servedSite(
  { 'index.html': home, 'app.js': script, '404.html': 'Lost?', 'assets/app.css': 'body {}' },
  { isSpa: true, port: 80 },
)

test('every path serves the app, but a missing file is 404', async () => {
  for (const path of ['/', '/users/jane.doe', '/a/b/c/', '/assets/']) {
    const { status, headers, body } = await app.ask(path)
    assert.deepEqual([status, headers['cache-control'], body.toString()], [200, 'no-cache', home], path)
  }
  for (const path of ['/none.js', '/assets/none.css', '/none.png', '/.git/config']) {
    const { status, body } = await app.ask(path)
    assert.deepEqual([status, body.toString()], [404, 'Lost?'], path)
  }
  assert.equal((await app.ask('/app.js')).body.toString(), script)
})

test('a single-page app has the same protections as any site', async () => {
  assert.equal(await app.status('/../etc/passwd'), 400)
  assert.equal((await app.ask('/', { method: 'POST' })).status, 405)
})

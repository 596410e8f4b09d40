// Requests to providers that fail in every way that a server in between can fail.
import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { codeOf, RetryLater } from '../../src/errors.ts'
import { parseBaseUrl } from '../../src/git-providers/base-url.ts'
import { ProviderRejection, requestProvider } from '../../src/git-providers/request.ts'
import { testHostRules } from '../support/git/git-server.ts'

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ask = (url: string, request: object = {}) =>
  requestProvider('GitLab', testHostRules, { url: `${url}/api/v4/user`, token: 'the-token', ...request })

const failures: Record<string, { respond: RequestListener; message: RegExp }> = {
  'an error of the server': {
    respond: (_, response) => response.writeHead(503).end('<h1>Sorry</h1>'),
    message: /^GitLab at 127\.0\.0\.1:\d+ responded with 503$/,
  },
  'a page instead of JSON': {
    respond: (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'),
    message: /responded with text\/html instead of JSON: is 127\.0\.0\.1:\d+ the address of a GitLab\?$/,
  },
  'a truncated response': {
    respond(_, response) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"id": 1')
      setTimeout(() => response.destroy(), 20)
    },
    message: /could not reach GitLab at 127\.0\.0\.1:\d+: it closed the connection|aborted/,
  },
  'a closed connection': {
    respond: (request) => request.socket.destroy(),
    message: /could not reach GitLab at 127\.0\.0\.1:\d+: it closed the connection$/,
  },
  'a redirect to another origin': {
    respond: (_, response) => response.writeHead(302, { location: 'https://other.example/api' }).end(),
    message: /redirects to https:\/\/other\.example: use the address of the server itself$/,
  },
  'an endless response': {
    respond(_, response) {
      response.writeHead(200)
      const write = () => response.write(Buffer.alloc(1024 * 1024, ' ')) && setImmediate(write)
      response.on('drain', write)
      write()
    },
    message: /is larger than 2 MiB$/,
  },
}

for (const [name, { respond, message }] of Object.entries(failures)) {
  test(`${name} means that the provider is unavailable`, async (t) => {
    const url = await serve(t, respond)
    await assert.rejects(ask(url), (error: Error) => {
      assert.equal(codeOf(error), 'git_provider_unavailable')
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /the-token/)
      return true
    })
  })
}

test('a provider that nothing listens for, or whose name does not exist, is unavailable', async (t) => {
  const url = await serve(t, () => undefined)
  const closed = `http://127.0.0.1:${Number(new URL(url).port) === 1 ? 2 : 1}`
  await assert.rejects(ask(closed), { code: 'git_provider_unavailable', message: /nothing listens there$/ })
  await assert.rejects(ask('https://git.invalid'), { code: 'git_provider_unavailable' })
})

test('a rate limit is reported with the time of its end', async (t) => {
  const resetAt = Math.floor(Date.now() / 1000) + 300
  const limits: [number, Record<string, string>][] = [
    [429, { 'retry-after': '300' }],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetAt) }],
    [429, { 'ratelimit-remaining': '0', 'ratelimit-reset': String(resetAt) }],
  ]
  for (const [status, headers] of limits) {
    const url = await serve(t, (_, response) =>
      response.writeHead(status, headers).end('{"message":"slow down"}'),
    )
    await assert.rejects(ask(url), (error: Error) => {
      assert.ok(error instanceof RetryLater)
      assert.equal(error.code, 'git_provider_unavailable')
      assert.match(error.message, /limits requests until 20\d\d-/)
      assert.ok(
        error.retryAfterSeconds > 250 && error.retryAfterSeconds <= 300,
        String(error.retryAfterSeconds),
      )
      return true
    })
  }
})

test('a rejection keeps the words of the provider, without secrets and bounded', async (t) => {
  const echo = `bad code c0de and secret s3cret for the-token ${'x'.repeat(240)} the-token ${'x'.repeat(900)}`
  const url = await serve(t, (_, response) =>
    response.writeHead(401).end(JSON.stringify({ error_description: echo })),
  )
  const form = { code: 'c0de', client_secret: 's3cret', client_id: 'client' }
  await assert.rejects(ask(url, { method: 'POST', form }), (error: Error) => {
    assert.ok(error instanceof ProviderRejection)
    assert.equal(error.status, 401)
    assert.match(error.message, /bad code \*\*\* and secret \*\*\* for \*\*\*/)
    assert.ok(error.message.length < 400)
    assert.doesNotMatch(error.message, /the-/)
    return true
  })
})

test('a name that resolves to a loopback address is refused before a connection', async (t) => {
  const requests: string[] = []
  const url = await serve(t, ({ url: path }) => requests.push(path!))
  const rules = { ...testHostRules, localHosts: [] }
  for (const host of ['localhost', '127.0.0.1']) {
    const request = { url: `http://${host}:${new URL(url).port}/`, token: 'the-token' }
    await assert.rejects(requestProvider('GitLab', rules, request), {
      code: 'invalid_request',
      message: /a loopback address; .* --local-git-host /,
    })
  }
  assert.deepEqual(requests, [])
})

test('the addresses of one instance have one normal form', () => {
  for (const text of ['HTTPS://Git.Example.com:443/', 'git.example.com', ' https://git.example.com '])
    assert.equal(parseBaseUrl('gitlab', text), 'https://git.example.com')
  assert.equal(parseBaseUrl('gitea', 'http://git.lan:3000/gitea/'), 'http://git.lan:3000/gitea')
  assert.equal(parseBaseUrl('github', null), 'https://github.com')
  assert.equal(parseBaseUrl('gitlab', ''), 'https://gitlab.com')
  for (const text of [
    'ftp://git.example.com',
    'https://a:b@git.example.com',
    'https://git.example.com/?a',
    'http://',
  ])
    assert.throws(() => parseBaseUrl('gitlab', text), { code: 'invalid_request' }, text)
  assert.throws(() => parseBaseUrl('gitea', null), { code: 'invalid_request' })
})

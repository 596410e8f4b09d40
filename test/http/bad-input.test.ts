// Bad input, over HTTP and a real store: each is refused with words that a person can act on, on every route
// that the OpenAPI document has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/http/pipeline/routes.ts'
import { outcomeOf, startWithAccount } from '../support/http/account.ts'
import { startChecked } from '../support/http/checked-api.ts'
import { brokenUtf8 } from '../support/http/hostile-characters.ts'
import { head, token } from '../support/http/http-context.ts'
import { branchesOf, type Operation, operations, type Schema } from '../support/http/operations.ts'
import { owner } from '../support/http/session.ts'
import { exchange, toBytes } from '../support/http/wire.ts'

/** What git providers send has fields of theirs. */
const jsonOperations = operations.filter(
  ({ body, path }) => body?.type === 'application/json' && !path.includes('/hooks/'),
)

/** Without the route outside of the API, and the WebSockets. */
const sockets = /\/(client|input|inspect|shell)$/
const requestable = operations.filter(({ path }) => path.startsWith('/api/v1') && !sockets.test(path))

/** About the service `web` or a registry that need not be there. */
function addressOf({ path }: Operation): string {
  return path.replace('/api/v1', '').replace('{id}', 'web').replace('{host}', 'registry.test')
}

function neededQuery({ parameters }: Operation): string {
  const needed = parameters.filter((one) => one.in === 'query' && one.required)
  return needed.map(({ name }) => `${name}=${name === 'path' ? '/' : 99}&`).join('')
}

function propertiesOf({ body }: Operation): [name: string, schema: Schema][] {
  return branchesOf(body!.schema).flatMap(({ properties = {} }) =>
    Object.entries(properties as Record<string, Schema>),
  )
}

const typesOfJson = {
  string: 's3cret',
  number: 53_535.5,
  boolean: true,
  object: { a: 53_535 },
  array: [53_535],
}

/** A value of each type that the field does not take, and values just outside of its bounds. */
function unsuitable(schema: Schema): unknown[] {
  const branches = branchesOf(schema)
  const taken = branches.map(({ type }) => (type === 'integer' ? 'number' : type))
  const mistyped = Object.entries(typesOfJson).filter(([type]) => !taken.includes(type))
  const beyond = branches.flatMap(({ minimum, maximum, maxLength, enum: words }) => [
    ...(typeof minimum === 'number' ? [minimum - 1] : []),
    ...(typeof maximum === 'number' ? [maximum + 1] : []),
    ...(typeof maxLength === 'number' ? ['x'.repeat(maxLength + 1)] : []),
    ...(words ? ['s3cret'] : []),
  ])
  return [...mistyped.map(([, value]) => value), ...beyond]
}

test('every body field rejects other types and values by its name, without the value', async (t) => {
  const { call, create } = await startChecked(t)
  await create({ name: 'web' })
  let count = 0

  for (const operation of jsonOperations) {
    for (const [name, schema] of propertiesOf(operation)) {
      for (const value of unsuitable(schema)) {
        const { status, body, text } = await call(operation.method, addressOf(operation), { [name]: value })
        const paths = ((body.errors ?? []) as { path: string }[]).map(({ path }) => path.split('.')[0])
        const requested = `${operation.method} ${operation.path} ${name}: ${JSON.stringify(value)}`
        assert.deepEqual([requested, status, body.code], [requested, 400, 'invalid_request'])
        assert.ok(paths.includes(name), `${requested} is answered ${text}`)
        assert.doesNotMatch(text, /s3cret|53535/)
        count++
      }
    }
  }
  assert.ok(count > 250, `only ${count} fields and types`)
})

test('every body rejects an unknown key by its name', async (t) => {
  const { create, refused } = await startChecked(t)
  await create({ name: 'web' })

  for (const operation of jsonOperations) {
    for (const key of ['nmae', '__proto__', 'constructor']) {
      const body = JSON.parse(`{"${key}": {"s3cret": 1}}`)
      const response = await refused(operation.method, addressOf(operation), body)
      assert.deepEqual(response.slice(0, 2), [400, 'invalid_request'])
      assert.ok(response.includes(`${key} unknown_key`), `${operation.method} ${operation.path}: ${response}`)
    }
  }
})

test('every route rejects a query parameter, and a body, that it does not know', async (t) => {
  const { create, refused } = await startChecked(t)
  await create({ name: 'web' })
  const unknown = [400, 'invalid_request', 'nope unknown_key']

  for (const operation of requestable) {
    const { method, path, body, isPublic } = operation
    const address = addressOf(operation)
    const query = `?${neededQuery(operation)}nope=1`
    if (!isPublic) assert.deepEqual(await refused(method, address + query), unknown, `${method} ${path}`)
    // A deploy hook takes any body.
    if (method !== 'POST' || body || path.includes('/hooks/')) continue
    assert.deepEqual(await refused(method, address, { nope: 1 }), unknown, `${method} ${path}`)
  }
})

test('every route is 404 for what does not exist, and for the id of something else', async (t) => {
  const { create, refused } = await startChecked(t)
  const { id: other } = await create({ name: 'web' })
  // The PUT of a backup place makes what does not exist.
  const others = /registries|actors|^PUT .*backup-places/
  const about = requestable.filter(
    ({ path, method }) => path.includes('{') && !others.test(`${method} ${path}`),
  )

  for (const operation of about) {
    const { method, path, example, body } = operation
    for (const id of path.includes('/services/') ? ['none.test'] : ['none.test', other]) {
      const address = path.replace('/api/v1', '').replace(/\{\w+\}/g, id)
      const query = `?${neededQuery(operation)}`
      const answer = await refused(method, address + query, body ? example : undefined)
      assert.deepEqual(answer, [404, 'not_found'], `${method} ${address}`)
    }
  }
})

test('a body of 2 MB is rejected with the limit, or accepted where variables may be many', async (t) => {
  const { call, create } = await startChecked(t)
  await create({ name: 'web' })
  const large = { padding: 'x'.repeat(2_000_000) }

  const responses = await Promise.all(
    jsonOperations.map(async (operation) => {
      const { status, body } = await call(operation.method, addressOf(operation), large)
      const errors = (body.errors ?? []) as { path: string; message: string }[]
      return status === 413 ? body.detail : errors.find(({ path }) => path === 'padding')?.message
    }),
  )

  const words = ['the body may have at most 1 MiB', 'the body may have at most 16 KiB', 'is not a known key']
  assert.deepEqual([...new Set(responses)].sort(), words.sort())
})

test('headers over the limit are rejected, and the next client is served', async (t) => {
  const api = await startChecked(t)
  const request = (...more: string[]) => head('GET /healthz', 'Host: localhost', ...more)

  const wide = await api.raw(request(`X-Wide: ${'a'.repeat(20_000)}`))
  // The library takes a hundred; more it never answers, and hangs up.
  const many = await api.raw(request(...Array(200).fill('X-Many: a')))

  assert.match(wide.text, /^HTTP\/1\.1 400 .*the headers may have at most 16384 characters together/s)
  assert.equal(wide.isClosed, true)
  assert.equal(many.text, '')
  assert.match((await api.raw(request())).text, /^HTTP\/1\.1 200 /)
})

test('invalid percent-encoding in a query is read literally, and then rejected', async (t) => {
  const { create, refused } = await startChecked(t)
  await create({ name: 'web' })

  for (const query of ['limit=%zz', 'limit=%ff', 'limit=%', 'limit=1%001']) {
    assert.deepEqual((await refused('GET', `/services/web/deploys?${query}`)).slice(0, 2), [
      400,
      'invalid_request',
    ])
  }
})

test('invalid UTF-8, including overlong forms, is rejected in a body and in a path', async (t) => {
  const api = await startChecked(t)
  const port = Number(new URL(api.url).port)
  const headers: [string, string][] = [
    ['Host', 'localhost'],
    ['Authorization', `Bearer ${token}`],
  ]

  for (const bytes of brokenUtf8) {
    const body = Buffer.concat([Buffer.from('{"name":"'), bytes, Buffer.from('"}')])
    const length: [string, string] = ['Content-Length', String(body.length)]
    const post = { method: 'POST', target: '/api/v1/services', headers: [...headers, length], body }
    const escaped = bytes.toString('hex').replace(/../g, '%$&')
    const get = { method: 'GET', target: `/api/v1/services/${escaped}`, headers }
    assert.match((await exchange(port, toBytes(post)))!.text, /"detail":"the body is not valid UTF-8"/)
    assert.match((await exchange(port, toBytes(get)))!.text, /"detail":"the path's id is not valid"/)
  }
})

test('an excessively nested body is rejected, not fatal', async (t) => {
  const { call } = await startChecked(t)

  for (const body of [
    '['.repeat(400_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    '{"name":'.repeat(50_000),
  ]) {
    assert.equal((await call('POST', '/services', body)).status, 400)
  }
})

test('half a surrogate pair is rejected, and an escaped backslash before its digits is valid', async (t) => {
  const { call, create } = await startChecked(t)
  const send = async (text: string) =>
    (await call('PATCH', '/services/web', `{"start_command":"${text}"}`)).status
  await create({ name: 'web' })

  for (const text of ['\\ud800', 'a\\uDFFFb', '\\udc00\\ud800', '\\ud83d\\\\\\ude00', '\\\\\\ud83d']) {
    assert.deepEqual([text, await send(text)], [text, 400])
  }
  for (const text of ['\\ud83d\\ude00', '\\\\ud800', '\\\\\\\\ud800', 'ud800', '\\uD83D\\uDE00\\\\']) {
    assert.deepEqual([text, await send(text)], [text, 200])
  }
})

const sources: [body: object, words: string][] = [
  [{ branch: '-f' }, 'branch starts with -'],
  [{ branch: '--upload-pack=x' }, 'branch starts with -'],
  [{ branch: 'a\nb' }, 'branch has a blank, a control character or one of ~ ^ : ? * [ \\'],
  [{ branch: 'a\0b' }, 'branch has a blank, a control character or one of ~ ^ : ? * [ \\'],
  [{ repo_url: 'ext::sh -c id' }, 'repository URL has a blank or a control character'],
  [
    { repo_url: 'ext::id' },
    'repository URL has ::, which git takes for the name of a helper program ' +
      '(IPv6 addresses need a host name)',
  ],
  [
    { repo_url: 'file:///etc' },
    'repository URL starts with file://; ' +
      'use https://, http://, ssh://, git@host:owner/name or an absolute path',
  ],
  [{ repo_url: '/srv/$(id)' }, 'repository URL has a $ in its path, which means something to a shell'],
  [
    { repo_url: 'https://a:b%0d%0ac@git.test/x' },
    'the user name or password of the repository has a control character',
  ],
]

test('a branch or repository that git would misinterpret is rejected with the reason', async (t) => {
  const { call, create } = await startChecked(t)
  await create({ name: 'web', repo_url: 'https://git.test/a/b', deploy: false })

  for (const [fields, words] of sources) {
    for (const [method, path, more] of [
      ['POST', '/services', { name: 'x' }],
      ['PATCH', '/services/web', {}],
    ] as const) {
      const { status, body } = await call(method, path, { ...more, ...fields })
      assert.deepEqual([status, body.code, body.detail], [400, 'invalid_request', words])
    }
  }
  for (const [commit, reason] of [
    ['-abcd', 'commit starts with -: it is an id or a tag'],
    ['--help', 'commit starts with -: it is an id or a tag'],
    ['', 'commit is empty: it is an id or a tag'],
  ]) {
    const { status, body } = await call('POST', '/services/web/deploys', { commit })
    assert.deepEqual([status, body.detail], [400, reason])
  }
})

const limitBytes = 16 * 1024
/** A delivery of a git provider is signed, and large. */
const publicRoutes = routes.filter(({ credential, upload }) => credential === 'public' && !upload)

test('every route without a credential refuses 17 KiB before they are sent', async (t) => {
  const api = await startWithAccount(t)
  const port = Number(new URL(api.url).port)
  const length = ['Content-Length', String(limitBytes + 1024)] as [string, string]
  const headers: [string, string][] = [['Host', 'localhost'], ['Content-Type', 'application/json'], length]

  for (const { method, path } of publicRoutes) {
    const target = path.replaceAll(/\{\w+\}/g, 'x')
    const { status, text } = (await exchange(port, toBytes({ method, target, headers })))!
    assert.equal(status, 413, `${method} ${path}: ${text}`)
    assert.match(text, /the body may have at most 16 KiB/)
  }
  assert.ok(publicRoutes.length > 20, `only ${publicRoutes.length} routes`)
})

test('a body of 16 KiB is read without a credential', async (t) => {
  const { signedOut } = await startWithAccount(t)
  const frame = JSON.stringify({ ...owner, password: '' }).length

  const response = await signedOut().call('POST', '/auth/login', {
    ...owner,
    password: 'x'.repeat(limitBytes - frame),
  })

  assert.equal(outcomeOf(response), '400 invalid_request')
  assert.match(response.body.detail, /^password: /)
})

// Hooks over HTTP: who may call them, what a delivery leads to, and what of it is kept.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { autoDeployIdOf } from '../../../src/domain/auto-deploys.ts'
import type { Body } from '../../support/daemon/api.ts'
import { createGitProvider } from '../../support/git/git-provider.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { head, raw } from '../../support/http/http-context.ts'
import { transitionOf } from '../../support/storage/store-fixtures.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const zeros = '0'.repeat(40)
const heads = { one: '1'.repeat(40), two: '2'.repeat(40) }

async function openHook(t: TestContext) {
  const api = await startChecked(t)
  const fake = await createGitProvider(t)
  const account = { provider: 'github', base_url: fake.url, token: fake.createToken('ada') }
  const { body } = await api.call('POST', '/git/connections', account)
  const connection = body.id as string
  const hook = (await api.call('GET', `/git/connections/${connection}/hook`)).body
  let count = 0
  const send = async (
    payload: object,
    options: { event?: string; id?: string; secret?: string; query?: string; isForm?: boolean } = {},
  ) => {
    const { event = 'push', id = `d-${++count}`, secret = hook.secret as string, isForm = false } = options
    const json = JSON.stringify(payload)
    const text = isForm ? String(new URLSearchParams({ payload: json })) : json
    const { query = `?connection=${connection}` } = options
    const response = await fetch(`${api.url}/api/v1/hooks/github${query}`, {
      method: 'POST',
      body: text,
      headers: {
        'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        'x-github-event': event,
        'x-github-delivery': id,
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
      },
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const push = (after: string, changes: object = {}) => ({
    ref: 'refs/heads/main',
    before: zeros,
    after,
    repository: { clone_url: 'https://github.com/Ada/Shop.git', ssh_url: 'git@github.com:ada/shop.git' },
    ...changes,
  })
  const shop = { name: 'shop', repo_url: 'https://github.com/ada/shop', branch: 'main', deploy: false }
  const deliveries = async (name: string, query = '') =>
    (await api.call('GET', `/services/${name}/deliveries${query}`)).body as unknown as Body[]
  return { ...api, connection, hook, send, push, shop, deliveries }
}

test('a signed push wakes the services of its branch, and is kept once', async (t) => {
  const { create, call, send, push, shop, deliveries, storage, connection, hook } = await openHook(t)
  await create(shop)
  await create({ ...shop, name: 'over-ssh', repo_url: 'git@github.com:ada/shop.git', branch: '' })
  await create({ ...shop, name: 'off', auto_deploy: false })
  await create({ ...shop, name: 'other-branch', branch: 'next' })
  await create({ ...shop, name: 'other', repo_url: 'https://github.com/ada/other' })
  assert.deepEqual(
    [hook.url, hook.content_type, hook.events, hook.check_events, hook.registered],
    [null, 'application/json', ['Pushes'], ['Check suites', 'Statuses'], false],
  )
  assert.match(hook.secret as string, /^bthk_[\w-]{43}$/)

  const first = await send(push(heads.one), { id: 'same' })
  const again = await send(push(heads.one), { id: 'same' })

  assert.deepEqual([first.status, first.body.result], [200, 'accepted'])
  assert.deepEqual(again.body, { id: first.body.id, result: 'duplicate', reason: null })
  const [{ received_at, ...delivery }, ...more] = (await deliveries('shop')) as [Body]
  assert.equal(more.length, 0)
  assert.ok(Date.parse(received_at) <= Date.now())
  assert.deepEqual(delivery, {
    id: first.body.id,
    provider: 'github',
    connection_id: connection,
    delivery_id: 'same',
    event: 'push',
    repository: 'github.com/ada/shop',
    ref: 'refs/heads/main',
    before: zeros,
    after: heads.one,
    forced: null,
    decided_at: null,
    deploy_id: null,
    reason: null,
  })
  assert.equal((await deliveries('over-ssh')).length, 1)
  const [off] = await deliveries('off')
  assert.match(off!.reason, /^berth update off --auto-deploy on /)
  for (const name of ['other-branch', 'other']) assert.deepEqual(await deliveries(name), [])
  const { id } = storage.services.get('shop')!
  assert.deepEqual(storage.hookDeliveries.openOf(id), [first.body.id])
  const { decisions } = (await call('GET', `/git/deliveries/${first.body.id}`)).body as Body
  assert.deepEqual(
    decisions.map((one: Body) => [one.service, one.decided_at !== null, one.reason]),
    [
      ['off', true, off!.reason],
      ['over-ssh', false, null],
      ['shop', false, null],
    ],
  )
})

test('a delivery in a form is signed as it was sent', async (t) => {
  const { create, send, push, shop, deliveries } = await openHook(t)
  await create(shop)
  const { status, body } = await send(push(heads.one), { isForm: true })
  assert.deepEqual([status, body.result], [200, 'accepted'])
  assert.deepEqual(
    (await deliveries('shop')).map(({ ref, after }) => [ref, after]),
    [['refs/heads/main', heads.one]],
  )
  assert.equal((await send(push(heads.two), { isForm: true, secret: 'wrong' })).status, 401)
})

test('a push by a bot, or by someone who is no member, is accepted like any other', async (t) => {
  const { create, send, push, shop, storage } = await openHook(t)
  const { id } = await create(shop)
  const authors = [
    { pusher: { name: 'renovate[bot]' }, sender: { login: 'renovate[bot]', type: 'Bot' } },
    { pusher: { name: 'eve' }, sender: { login: 'eve', type: 'User' }, author_association: 'NONE' },
  ]
  const ids = []
  for (const author of authors) {
    const { body } = await send(push(heads.one, { ...author, commits: [{ author: author.pusher }] }))
    assert.equal(body.result, 'accepted')
    ids.push(body.id)
  }
  assert.deepEqual(storage.hookDeliveries.openOf(id as string), ids)
})

test('what concerns no service is kept with the reason', async (t) => {
  const { create, send, push, shop, call, connection } = await openHook(t)
  await create(shop)
  const reasons = [
    [await send({ zen: 'x' }, { event: 'ping' }), 'nothing to do: event ping'],
    [await send(push(heads.one, { ref: 'refs/tags/v1' })), 'no service deploys v1 of this repository'],
    [await send(push(heads.one, { ref: 'refs/pull/1/head' })), 'refs/pull/1/head is not a branch'],
    [await send(push(heads.one, { ref: 'refs/heads/x' })), 'no service deploys x of this repository'],
    [
      await send(push(heads.one, { repository: { clone_url: '::' } })),
      'no service deploys main of this repository',
    ],
  ] as const
  for (const [{ status, body }, reason] of reasons)
    assert.deepEqual([status, body.result, body.reason], [200, 'ignored', reason])
  const { body } = await call('GET', `/git/connections/${connection}/deliveries`)
  const kept = (body as unknown as Body[]).map(({ reason, deploy_id }) => [reason, deploy_id])
  assert.deepEqual(kept, reasons.map(([, reason]) => [reason, null]).reverse())
  const whole = (await call('GET', `/git/deliveries/${reasons[0][0].body.id}`)).body
  assert.deepEqual([whole.event, whole.reason, whole.decisions], ['ping', 'nothing to do: event ping', []])
  const none = (await call('GET', '/git/connections/git-none/deliveries')).status
  assert.equal(none, 404)
})

test('a service that follows tags looks at each of them, and at no branch', async (t) => {
  const { create, send, push, shop, deliveries } = await openHook(t)
  await create({ ...shop, tag_pattern: 'v*' })
  const tag = await send(push(heads.one, { ref: 'refs/tags/v1' }))
  const branch = await send(push(heads.two))
  assert.deepEqual([tag.body.result, branch.body.result], ['accepted', 'ignored'])
  assert.deepEqual(
    (await deliveries('shop')).map(({ ref }) => ref),
    ['refs/tags/v1'],
  )
})

test('a repository that is renamed is known by its id, and no push moves a service', async (t) => {
  const { create, send, push, shop, call, deliveries } = await openHook(t)
  await create(shop)
  const at = (path: string, id?: number) => ({
    repository: { ...(id !== undefined && { id }), clone_url: `https://github.com/${path}.git` },
  })
  const results = []
  for (const repository of [at('ada/shop', 7), at('team/store', 7), at('team/store'), at('eve/shop', 8)])
    results.push((await send(push(heads.one, repository))).body.result)

  assert.deepEqual(results, ['accepted', 'accepted', 'ignored', 'ignored'])
  assert.equal((await call('GET', '/services/shop')).body.repo_url, shop.repo_url)
  const [moved] = (await deliveries('shop')) as [Body]
  const { status, body } = await call('POST', `/services/shop/deliveries/${moved.id}/redeliver`)
  assert.deepEqual([status, (body.source as Body).repo_url], [202, shop.repo_url])
})

test('a delivery without a valid signature changes nothing', async (t) => {
  const { create, send, push, shop, deliveries, url, hook } = await openHook(t)
  await create(shop)
  for (const query of ['', '?connection=', '?connection=git-none'])
    assert.equal((await send(push(heads.one), { secret: 'wrong', query })).status, 401)
  assert.equal((await send(push(heads.one), { secret: 'wrong' })).status, 401)
  assert.equal((await send(push(heads.one), { query: '' })).body.result, 'accepted')
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${url}/api/v1/hooks/github`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  assert.equal((await post('{}', {})).status, 401)
  assert.equal((await post('x'.repeat(4 * 1024 * 1024 + 1), {})).status, 413)
  assert.equal((await send([] as never)).status, 400)
  const large = push(heads.two, { commits: ['x'.repeat(3_500_000)] })
  assert.equal((await send(large)).body.result, 'accepted')
  assert.equal((await deliveries('shop')).length, 2)
  assert.doesNotMatch(JSON.stringify(await deliveries('shop')), new RegExp(hook.secret as string))
})

test('a delivery that is not signed is shown to its account, and takes the place of no other', async (t) => {
  const { send, push, call, connection, storage } = await openHook(t)
  const listed = async () =>
    (await call('GET', `/git/connections/${connection}/deliveries`)).body as unknown as Body[]
  await send({ zen: 'x' }, { event: 'ping', id: 'signed' })
  await send(push(heads.one), { secret: 'wrong', id: 'first' })
  await send(push(heads.one), { secret: 'wrong', id: 'within the same second' })
  const [{ received_at, id, ...unsigned }, signed, ...more] = (await listed()) as [Body, Body]
  assert.deepEqual([signed.delivery_id, more.length], ['signed', 0])
  assert.deepEqual(unsigned, {
    provider: 'github',
    connection_id: connection,
    delivery_id: 'first',
    event: 'push',
    repository: null,
    ref: null,
    before: null,
    after: null,
    forced: null,
    decided_at: received_at,
    deploy_id: null,
    reason: 'it is not signed with the secret of the webhook',
  })
  // The provider sends it again after its secret was fixed.
  assert.equal((await send(push(heads.one), { id: 'first' })).body.result, 'ignored')

  const row = storage.hookDeliveries.get(id)!
  for (let minute = 1; minute <= 25; minute++)
    await storage.hookDeliveries.keepUnsigned({
      ...row,
      id: storage.ids.newId('dlv'),
      received_at: new Date(Date.parse(row.received_at) + minute * 60_000).toISOString(),
    })
  const reasons = (await listed()).filter(({ reason }) => reason === row.refusal)
  assert.deepEqual([reasons.length, (await listed()).length], [20, 22])
  assert.equal((await send(push(heads.one), { id: 'first' })).body.result, 'duplicate')
})

test('the secret of a webhook of GitLab is its secret token or its signing token', async (t) => {
  const { call, url } = await openHook(t)
  const fake = await createGitProvider(t)
  const account = { provider: 'gitlab', base_url: fake.url, token: fake.createToken('ada') }
  const { body: connection } = await call('POST', '/git/connections', account)
  const { secret } = (await call('GET', `/git/connections/${connection.id}/hook`)).body as Body
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    before: zeros,
    after: heads.one,
    project: { git_http_url: 'https://gitlab.com/a/b' },
  })
  const send = async (headers: Record<string, string>) =>
    (
      await fetch(`${url}/api/v1/hooks/gitlab?connection=${connection.id}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-gitlab-event': 'Push Hook', ...headers },
      })
    ).status
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`id-1.1700000000.${body}`).digest('base64')
  const signed = { 'webhook-id': 'id-1', 'webhook-timestamp': '1700000000' }
  assert.equal(await send({ 'x-gitlab-token': secret }), 200)
  assert.equal(await send({ ...signed, 'webhook-signature': `v1,${signature}` }), 200)
  assert.equal(await send({ ...signed, 'webhook-signature': 'v1,x', 'x-gitlab-token': secret }), 401)
})

test('strangers who hold back the end of a body fill a bounded memory, and not for long', async (t) => {
  const { send, push, url } = await openHook(t)
  const { hostname, port } = new URL(url)
  const length = 4 * 1024 * 1024
  const lines = ['POST /api/v1/hooks/github HTTP/1.1', `host: ${hostname}`, `content-length: ${length}`]
  const head = `${lines.join('\r\n')}\r\n\r\n`
  const open = () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    socket.write(head + 'x'.repeat(length - 1))
    return socket
  }
  let sockets = Array.from({ length: 5 }, open)
  t.after(() => sockets.map((socket) => socket.destroy()))

  await eventually('the refusal', async () => {
    // The server cuts a body that stands still.
    sockets = sockets.map((socket) => (socket.destroyed ? open() : socket))
    return (await send(push(heads.one))).status === 429
  })
  for (const socket of sockets) socket.destroy()
  await eventually('the next delivery', async () => (await send(push(heads.one))).status === 200)
})

test('a deploy hook needs no body, and looks at the key before one arrives', async (t) => {
  const { create, call, shop, url } = await openHook(t)
  const { id } = await create(shop)
  const { key } = (await call('GET', `/services/${id}/deploy-hook`)).body as Body
  const port = Number(new URL(url).port)
  const post = async (query: string, length: number, body = '') => {
    const request = head(
      `POST /api/v1/hooks/deploy/${id}?key=${query}`,
      'Host: localhost',
      `Content-Length: ${length}`,
    )
    const { text } = await raw(port, request + body)
    return Number(text.split(' ')[1])
  }

  assert.equal(await post('wrong', 16_000), 404)
  assert.equal(await post(key, 17 * 1024), 413)
  assert.equal(await post(key, 7, 'no JSON'), 202)
  assert.equal(await post(key, 0), 202)
})

test('a key of other characters is refused like a wrong one', async (t) => {
  const { create, shop, url } = await openHook(t)
  const { id } = await create(shop)
  const key = encodeURIComponent('ü'.repeat(48))
  const response = await fetch(`${url}/api/v1/hooks/deploy/${id}?key=${key}`, { method: 'POST' })
  assert.equal(response.status, 404)
})

test('the newest hundred deliveries of a service are kept, in pages', async (t) => {
  const { create, send, push, shop, deliveries, storage } = await openHook(t)
  await create(shop)
  const ids: string[] = []
  for (let count = 0; count < 105; count++) ids.push((await send(push(heads.one))).body.id)
  const { id } = storage.services.get('shop')!
  assert.deepEqual(storage.hookDeliveries.openOf(id), ids.slice(5))
  const page = await deliveries('shop', '?limit=60')
  assert.deepEqual(
    page.map((one) => one.id),
    ids.slice(45).reverse(),
  )
  const rest = await deliveries('shop', `?limit=60&before=${page.at(-1)!.id}`)
  assert.deepEqual(
    rest.map((one) => one.id),
    ids.slice(5, 45).reverse(),
  )
  assert.equal(storage.hookDeliveries.get(ids[0]!), null)
})

test('a redelivery queues a deploy of the head that the delivery named', async (t) => {
  const { create, call, send, push, shop, refused } = await openHook(t)
  await create(shop)
  const { id } = (await send(push(heads.one))).body
  const { status, body } = await call('POST', `/services/shop/deliveries/${id}/redeliver`)
  assert.deepEqual([status, body.trigger, (body.source as Body).commit], [202, 'push', heads.one])
  const deleted = (await send(push(zeros))).body.id
  assert.deepEqual(await refused('POST', `/services/shop/deliveries/${deleted}/redeliver`), [409, 'conflict'])
  assert.deepEqual(await refused('POST', '/services/shop/deliveries/dlv-none/redeliver'), [404, 'not_found'])
})

test('a deploy hook needs the id and the key of its service, which can be replaced', async (t) => {
  const { create, call, shop, url } = await openHook(t)
  const { id } = await create(shop)
  const hook = (await call('GET', '/services/shop/deploy-hook')).body
  assert.equal(hook.url, `${url}/api/v1/hooks/deploy/${id}?key=${hook.key}`)
  const run = (path: string) => fetch(`${url}/api/v1/hooks/deploy/${path}`, { method: 'POST' })
  for (const path of [id, `${id}?key=`, `${id}?key=x`, `shop?key=${hook.key}`, `svc-none?key=${hook.key}`])
    assert.equal((await run(path)).status, 404, path)
  assert.equal((await run(`${id}?key=${hook.key}`)).status, 202)
  const { latest_deploy } = (await call('GET', '/services/shop')).body as Body
  assert.equal(latest_deploy.trigger, 'hook')

  const next = (await call('POST', '/services/shop/deploy-hook/rotate')).body
  assert.notEqual(next.key, hook.key)
  assert.equal((await run(`${id}?key=${hook.key}`)).status, 404)
  await call('POST', '/services/shop/suspend')
  assert.equal((await run(`${id}?key=${next.key}`)).status, 409)
})

test('an event about checks wakes only a service that waits for them', async (t) => {
  const { create, send, shop, deliveries, storage } = await openHook(t)
  const { id } = await create({ ...shop, deploy_when: 'checks' })
  await create({ ...shop, name: 'busy', deploy_when: 'checks' })
  const waiting = { id: autoDeployIdOf(id as string), kind: 'auto-deploy', service_id: id as string }
  await storage.actors.create(transitionOf(waiting, { status: 'checking' }))
  const repository = { clone_url: 'https://github.com/Ada/Shop.git' }
  const { body } = await send({ repository }, { event: 'check_suite' })
  assert.equal(body.result, 'accepted')
  assert.deepEqual(storage.hookDeliveries.openOf(id as string), [body.id])
  assert.deepEqual(await deliveries('busy'), [])
  const other = { repository: { clone_url: 'https://github.com/ada/other' } }
  const ignored = await send(other, { event: 'check_suite' })
  assert.deepEqual([ignored.status, ignored.body.reason], [200, 'nothing to do: event check_suite'])
})

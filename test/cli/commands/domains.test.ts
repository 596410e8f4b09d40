// Domains and addresses from the command line, against the API: what is said, and what then holds.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth, startFakeBerth } from '../../support/cli/berth.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { token } from '../../support/http/http-context.ts'

async function start(t: TestContext) {
  const api = await startChecked(t)
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: token }
  const berth = (...args: string[]) => runBerth(t, args, { env })
  return { ...api, env, berth }
}

test('domains adds, lists and removes, and prints how to undo each', async (t) => {
  const { berth, create, get } = await start(t)
  await create({ name: 'shop' })

  const added = await berth('domains', 'add', 'shop', 'Shop.Example.com')
  const local = await berth('domains', 'add', 'shop', 'shop.lan')
  assert.deepEqual(
    [added.code, added.stdout, added.stderr],
    [
      0,
      '',
      ' ✔ shop.example.com now belongs to shop\n' +
        '   its DNS needs this record: A shop.example.com -> the address of this server\n' +
        '   it is served over http only: with berthd --acme-email YOU@EXAMPLE.COM it gets a certificate\n' +
        '   undo: berth domains rm shop shop.example.com\n',
    ],
  )
  assert.equal(local.stderr, ' ✔ shop.lan now belongs to shop\n   undo: berth domains rm shop shop.lan\n')
  const listed = await berth('domains', 'shop')
  assert.equal(
    listed.stdout,
    [
      'DOMAIN            KIND     URL                      CERTIFICATE',
      'shop.localhost    default  http://shop.localhost    none',
      'shop.example.com  custom   http://shop.example.com  none',
      'shop.lan          custom   http://shop.lan          none\n',
    ].join('\n'),
  )
  const removed = await berth('domains', 'rm', 'shop', 'shop.lan')
  assert.equal(
    removed.stderr,
    ' ✔ shop.lan no longer belongs to shop\n   undo: berth domains add shop shop.lan\n',
  )
  assert.deepEqual((await get('shop')).custom_domains, ['shop.example.com'])
})

test('domains add --redirect redirects a domain, and the list shows where', async (t) => {
  const { berth, create } = await start(t)
  await create({ name: 'shop', custom_domains: ['shop.lan'] })

  const added = await berth('domains', 'add', 'shop', 'www.shop.lan', '--redirect', 'shop.lan')
  const refused = await berth('domains', 'add', 'shop', 'b.lan', '--redirect', 'nothing.lan')

  assert.match(added.stderr, /^ ✔ www\.shop\.lan now redirects to shop\.lan\n/)
  assert.match((await berth('domains', 'shop')).stdout, /^www\.shop\.lan +custom +-> shop\.lan +none$/m)
  assert.match(refused.stderr, /add it first: berth domains add shop nothing\.lan/)
})

test('a failure prints its reason, the next step and the right exit code', async (t) => {
  const { berth, create } = await start(t)
  await create({ name: 'shop', custom_domains: ['shop.example.com'] })
  await create({ name: 'api' })

  const taken = await berth('domains', 'add', 'api', 'shop.example.com')
  const pasted = await berth('domains', 'add', 'api', 'https://api.example.com/')
  const missing = await berth('domains', 'rm', 'api', 'shop.example.com')
  const defaultHost = await berth('domains', 'rm', 'api', 'api.localhost')
  const nobody = await berth('domains', 'none')

  assert.match(taken.stderr, /shop\.example\.com is a domain of shop\n.*berth domains rm shop shop/)
  assert.match(pasted.stderr, /host alone.*\n {3}write api\.example\.com\n$/)
  assert.match(missing.stderr, /api has no domain shop\.example\.com/)
  assert.match(defaultHost.stderr, /cannot be removed/)
  const codes = [taken, pasted, missing, defaultHost, nobody].map(({ code }) => code)
  assert.deepEqual(codes, [1, 1, 3, 1, 3])
})

test('a certificate is shown with its expiry, or with what it waits for', async (t) => {
  const domain = { service_id: 'svc-1', kind: 'custom', url: 'http://a.example', https: false }
  const certificates = [
    { status: 'valid', error: null, not_after: '2027-01-02T03:04:05.000Z' },
    { status: 'waiting', error: 'its DNS \u001b[2Jpoints elsewhere', not_after: null },
  ]
  const body = certificates.map((certificate) => ({ ...domain, domain: 'a.example', certificate }))
  const { berth } = await startFakeBerth(t, () => ({ body }))

  const { stdout } = await berth('domains', 'shop')

  assert.match(stdout, /^a\.example .* valid until 2027-01-02$/m)
  assert.match(stdout, /^a\.example .* waiting: its DNS points elsewhere$/m)
})

test('without a graphical display open prints the address, or why there is none', async (t) => {
  const { berth, create, context } = await start(t)
  await create({ name: 'shop' })
  await create({ name: 'db', type: 'private_service', port: 5432 })

  const opened = await berth('open', 'shop')
  const asJson = await berth('open', 'shop', '--json')
  const hidden = await berth('open', 'db')
  context.config.edge.mode = 'off'
  const without = await berth('open', 'shop')

  assert.deepEqual([opened.code, opened.stdout, opened.stderr], [0, 'http://shop.localhost\n', ''])
  assert.deepEqual(JSON.parse(asJson.stdout), { url: 'http://shop.localhost' })
  assert.deepEqual([hidden.code, without.code, hidden.stdout + without.stdout], [1, 1, ''])
  assert.match(hidden.stderr, /db has no public address: it is a private service\n.*at db:5432\n$/)
  assert.match(without.stderr, /runs without an edge\n.*--edge/)
})

test('an address that is not a web page is neither opened nor shown', async (t) => {
  for (const url of ['file:///etc/passwd', '--version', 'http://a.example/$(id)', 'javascript:alert(1)']) {
    const { berth } = await startFakeBerth(t, () => ({ body: { name: 'shop', type: 'web_service', url } }))
    const ended = await berth('open', 'shop')
    assert.deepEqual([ended.code, ended.stdout], [1, ''], url)
  }
})

test('the list and the details of a service show its address and edge settings', async (t) => {
  const { berth, create } = await start(t)
  await create({ name: 'shop', custom_domains: ['shop.example.com'] })

  const flags = ['--hsts', 'on', '--request-timeout', '600', '--max-body', '64']
  const updated = await berth('update', 'shop', ...flags)
  const [services, shown] = [await berth('services'), await berth('show', 'shop')]
  const wrong = await berth('update', 'shop', '--hsts', 'maybe')

  assert.match(updated.stderr, /^ ✔ shop: hsts, request timeout, max body saved\n$/)
  assert.match(services.stdout, /^shop +not deployed +web service +http:\/\/shop\.localhost /m)
  const facts = ['address +http://shop.localhost', 'domains +shop.example.com', 'hsts +on']
  for (const fact of [...facts, 'answer within +10m', 'body limit +64 MiB']) {
    assert.match(shown.stdout, new RegExp(`^${fact}$`, 'm'))
  }
  assert.deepEqual([wrong.code, wrong.stderr.includes('It must be on or off')], [2, true])
})

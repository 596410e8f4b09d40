// A blueprint against the state of a server: what changes, what is refused, and what is kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Datastore } from '../../src/api/datastore.ts'
import { InvalidBlueprint, parseBlueprint } from '../../src/blueprint/blueprint.ts'
import { makePlan, type Plan, type RunningService } from '../../src/blueprint/plan.ts'
import { exportBlueprint, printBlueprint } from '../../src/blueprint/print.ts'
import { serviceSettings, settingNames } from '../../src/domain/service-settings.ts'
import { readPage } from '../support/http/manual.ts'

const defaults = Object.fromEntries(settingNames.map((name) => [name, serviceSettings[name].default]))

function running(name: string, settings: Partial<RunningService> = {}): RunningService {
  const { custom_domains: _, ...rest } = defaults
  const domains = settings.domains ?? []
  const custom_domains = domains.map(({ domain }) => domain)
  const own = { id: `svc-${name}`, name, type: 'web_service', env: [], domains, custom_domains }
  return { ...rest, ...own, ...settings } as unknown as RunningService
}

function database(settings: Partial<Datastore> = {}): Datastore {
  const own = { id: 'dst-db', name: 'db', kind: 'postgres', version: '16', database: 'db', username: 'db' }
  const rest = { memory_limit_mb: null, cpu_limit: null, backup_schedule: null, backup_keep: 7 }
  return { ...own, ...rest, shared_network: false, ...settings } as unknown as Datastore
}

function planOf(text: string, services: RunningService[] = [], datastores: Datastore[] = []): Plan {
  return makePlan(parseBlueprint(text), { services, datastores })
}

/** `shop: port none → 8080` */
function linesOf({ changes }: Plan): string[] {
  return changes.flatMap(({ action, name, details }) =>
    action === 'create'
      ? [`+ ${name}`]
      : details.map(({ what, from, to, takes_effect }) => `${name}: ${what} ${from} → ${to} ${takes_effect}`),
  )
}

const reference = '${{service.api.hostport}}'
const current = () =>
  running('shop', {
    image: 'nginx:latest',
    repo_url: null,
    auto_deploy: false,
    port: 8080,
    env: [
      { key: 'A', value: '1.10' },
      { key: 'KEY', value: 'hidden' },
    ],
    domains: [{ domain: 'shop.example.com', redirect_to: null }],
  })

const same = `
services:
  shop:
    image: docker.io/library/nginx
    port: 8080
    env: { A: 1.10 }
    secrets: [KEY]
    domains: [SHOP.example.com]
`

test('a server that is as the file says has nothing to change, however the file spells it', () => {
  const plan = planOf(same, [current()])
  assert.deepEqual([plan.changes, plan.refusals, plan.missing, plan.kept], [[], [], [], []])
})

const changes: [what: string, text: string, expected: string[]][] = [
  ['a setting', 'image: nginx, port: 0', ['shop: port 8080 → none at restart']],
  ['an image', 'image: "nginx:1"', ['shop: image nginx:latest → nginx:1 at build']],
  [
    'limits',
    'memory_limit_mb: 64, instances: 2',
    ['shop: instances 1 → 2 immediately', 'shop: memory_limit_mb none → 64 at restart'],
  ],
  [
    'variables',
    'env: { A: 1.1, B: yes, KEY: hidden }',
    ['shop: env A 1.10 → 1.1 at restart', 'shop: env B null → yes at restart'],
  ],
  ['a secret that the server does not have', 'secrets: [KEY, NEW]', ['shop: env NEW null → null at restart']],
  [
    'domains',
    'domains: [{ domain: www.example.com, redirect_to: shop.example.com }]',
    ['shop: domain www.example.com null → redirects to shop.example.com immediately'],
  ],
  [
    'another kind of source',
    'repo_url: "https://example.com/a.git"',
    ['shop: repo_url none → https://example.com/a.git at build', 'shop: image nginx:latest → none at build'],
  ],
  ['a folder instead of an image', 'folder: ./shop', ['shop: image nginx:latest → none at build']],
]

for (const [what, text, expected] of changes) {
  test(`a plan names ${what}`, () => {
    assert.deepEqual(linesOf(planOf(`services: { shop: { ${text} } }`, [current()])), expected)
  })
}

test('datastores come first, and a service after those that it refers to', () => {
  const plan = planOf(`
services:
  web: { env: { API: "${reference}" } }
  api: { folder: ./api, env: { WEB: "\${{service.web.url}}", DB: "\${{datastore.db.connectionString}}" } }
jobs:
  nightly: { image: a, schedule: "@daily" }
datastores:
  db: { kind: postgres }
`)
  assert.deepEqual(linesOf(plan), ['+ db', '+ api', '+ web', '+ nightly'])
  assert.deepEqual(plan.refusals, [])
})

const redirect = (target: string) =>
  `services: { shop: { domains: [{ domain: a.example.com, redirect_to: ${target} }] } }`

const refusals: [what: string, text: string, reason: RegExp, hint: RegExp][] = [
  ['type', 'services: { shop: { type: private_service } }', /is a web_service/, /berth delete shop/],
  ['disk path', 'services: { data: { disk_mount_path: /b } }', /mounted at \/a/, /update data --disk \/b$/],
  ['removed disk', "services: { data: { disk_mount_path: '' } }", /mounted at \/a/, /--disk ''$/],
  ['kind', 'datastores: { db: { kind: redis } }', /kind is postgres/, /another name/],
  ['newer version', 'datastores: { db: { kind: postgres, version: 18 } }', /is 16/, /db upgrade db --to 18/],
  ['older version', 'datastores: { db: { kind: postgres, version: 15 } }', /is 16/, /another name/],
  ['user', 'datastores: { db: { kind: postgres, username: ada } }', /username is db/, /another name/],
  ['name of a datastore', 'services: { db: {} }', /a datastore has this name/, /another name/],
  ['name of a service', 'datastores: { shop: { kind: redis } }', /a service has this name/, /another name/],
  ['reference', `services: { shop: { env: { A: "${reference}" } } }`, /variable A refers/, /literal/],
  ['property', 'services: { shop: { env: { A: "${{datastore.db.url}}" } } }', /variable A/, /literal/],
  ['address', 'services: { shop: { env: { A: "${{service.inner.url}}" } } }', /variable A/, /literal/],
  [
    'database',
    'services: { shop: { env: { A: "${{datastore.cache.database}}" } } }',
    /variable A/,
    /literal/,
  ],
  ['number', 'services: { data: { instances: 2 } }', /instances: a service with a disk/, /not name stays/],
  ['taken name', 'services: { gone: {} }', /had this name is still being deleted/, /try again/],
  ['taken name', 'datastores: { gone: { kind: redis } }', /is still being deleted/, /try again/],
  ['total of variables', `services: { shop: { env: { B: ${'x'.repeat(60_000)} } } }`, /512 KiB/, /less/],
  [
    'domain of another',
    'services: { data: { domains: [shop.example.com] } }',
    /is a domain of shop/,
    /rm shop/,
  ],
  ['host of another', 'services: { data: { domains: [shop.berth.test] } }', /is a domain of shop/, /rm shop/],
  ['host of a new one', 'services: { data: { domains: [b.berth.test] }, b: {} }', /is a domain of b/, /rm b/],
  [
    'own host',
    'services: { shop: { domains: [shop.berth.test] } }',
    /its default address is no domain/,
    /omit it/,
  ],
  ['new host', 'services: { www: {} }', /^www\.berth\.test is a domain of site$/, /domains rm site/],
  ['target', redirect('b.example.com'), /cannot redirect to b\.example\.com/, /has to be another domain/],
  ['circle', redirect('a.example.com'), /cannot redirect to a\.example\.com/, /has to be another domain/],
]

for (const [what, text, reason, hint] of refusals) {
  test(`a ${what} that cannot be as the file says is refused with the way out`, () => {
    const full = { key: 'FULL', value: 'x'.repeat(500_000) }
    const shop = current()
    const services = [
      { ...shop, env: [...shop.env, full] },
      running('data', { disk_mount_path: '/a' }),
      running('site', { domains: [{ domain: 'www.berth.test', redirect_to: null }] }),
      running('inner', { type: 'private_service' }),
    ]
    const datastores = [database(), database({ name: 'cache', kind: 'redis' })]
    const server = { leaving: ['gone'], baseDomain: 'berth.test' }
    const plan = makePlan(parseBlueprint(text), { services, datastores, ...server })
    // Two services of the file that want the same host are both named.
    assert.equal(plan.refusals.length, what === 'host of a new one' ? 2 : 1)
    assert.match(plan.refusals[0]!.reason, reason)
    assert.match(plan.refusals[0]!.hint, hint)
  })
}

test('what the file does not name is kept, and listed with what removes it', () => {
  const plan = planOf('services: { shop: { image: nginx } }', [current(), running('old')], [database()])
  assert.deepEqual(linesOf(plan), [])
  assert.deepEqual(plan.surplus, ['old'])
  assert.deepEqual(
    plan.kept.map(({ what, removal }) => `${what}: ${removal}`),
    [
      'service old: berth delete old',
      'datastore db: berth db rm db',
      'port 8080 of shop: port: 0 in the file',
      'variable A of shop: berth env unset shop A',
      'variable KEY of shop: berth env unset shop KEY',
      'domain shop.example.com of shop: berth domains rm shop shop.example.com',
    ],
  )
})

test('a literal value is shown before and after, and what looks secret is not', () => {
  const service = {
    ...current(),
    env: [
      { key: 'LEVEL', value: 'info' },
      { key: 'API_KEY', value: 'hidden' },
    ],
  }
  const values = 'LEVEL: debug, API_KEY: other, URL: "http://u:pw@x", DB_PASSWORD: "${{service.shop.host}}"'
  const text = `services: { shop: { env: { ${values} } } }`
  assert.deepEqual(linesOf(planOf(text, [service])), [
    'shop: env LEVEL info → debug at restart',
    'shop: env API_KEY null → null at restart',
    'shop: env URL null → null at restart',
    'shop: env DB_PASSWORD null → ${{service.shop.host}} at restart',
  ])
})

test('an image that is not deployed automatically is as it always was', () => {
  const kept = (fields: object) => {
    const plan = planOf('services: { shop: { port: 1 } }', [
      { ...current(), env: [], domains: [], ...fields },
    ])
    return plan.kept.map(({ what }) => what).filter((what) => what.startsWith('auto_deploy'))
  }
  assert.deepEqual(kept({ auto_deploy: false }), [])
  assert.deepEqual(kept({ auto_deploy: true }), ['auto_deploy true of shop'])
  const repository = { image: null, repo_url: 'https://example.com/a.git' }
  assert.deepEqual(kept({ ...repository, auto_deploy: false }), ['auto_deploy false of shop'])
})

test('a new service has the disk that a former one of its name left; of several, none', () => {
  const disk = (name: string, service_name: string, kept = true) => ({
    name,
    service_id: 'svc-1',
    service_name,
    kept,
  })
  const disks = [
    disk('d1', 'shop'),
    disk('d2', 'other'),
    disk('d3', 'web', false),
    disk('d4', 'two'),
    disk('d5', 'two'),
  ]
  const on = '{ disk_mount_path: /d }'
  const wanted = parseBlueprint(`services: { shop: ${on}, other: {}, web: ${on}, two: ${on} }`)
  const { changes, kept } = makePlan(wanted, { services: [], datastores: [], disks })
  const taken = changes.flatMap(({ details }) => details.filter(({ what }) => what === 'disk'))
  assert.deepEqual(
    taken.map(({ to }) => to),
    ['d1, which a former shop left'],
  )
  assert.deepEqual(
    kept.map(({ what }) => what),
    [
      'disk d4 of a former two, whose new disk begins empty',
      'disk d5 of a former two, whose new disk begins empty',
    ],
  )
  assert.equal(kept[0]!.removal, 'berth disks backup d4 > FILE, then berth disks restore two < FILE')
})

test('the fingerprint is of the file and of what it was compared with, not of a secret', () => {
  const print = (text: string, service: RunningService) => planOf(text, [service]).fingerprint
  const first = print(same, current())
  assert.equal(print(same, current()), first)
  assert.notEqual(print(same.replace('8080', '8081'), current()), first)
  assert.notEqual(print(same, { ...current(), port: 9000 }), first)
  assert.notEqual(print(same, { ...current(), drain_seconds: 1 }), first)
  assert.notEqual(print(same, { ...current(), id: 'svc-again' }), first)
  const [a] = current().env
  assert.equal(print(same, { ...current(), env: [a!, { key: 'KEY', value: 'other' }] }), first)
})

test('an export holds no value but references, and applies without a change', () => {
  const env = [
    { key: 'API', value: reference },
    { key: 'MIXED', value: `https://ada:pw@${reference}` },
    { key: 'MODE', value: 'fast' },
  ]
  const services = [
    { ...current(), env },
    running('api', { type: 'private_service', start_command: 'a "b"\nc' }),
    running('nightly', { type: 'cron_job', image: 'a:1', schedule: '0 3 * * *' }),
  ]
  const state = { services, datastores: [database({ memory_limit_mb: 256, username: 'ada' })] }
  const text = printBlueprint(exportBlueprint(state))
  assert.doesNotMatch(text, /fast|pw/)
  assert.match(text, /secrets:\n +- MIXED\n +- MODE\n/)
  const again = makePlan(parseBlueprint(text), state)
  assert.deepEqual([again.changes, again.refusals, again.missing, again.kept], [[], [], [], []])
  const open = printBlueprint(exportBlueprint(state, { showValues: true }))
  assert.match(open, /MODE: fast/)
  assert.deepEqual(makePlan(parseBlueprint(open), state).changes, [])
})

const violations: [text: string, expected: string][] = [
  ['services:\n  shop:\n    imag: a', "3 services.shop.imag: is not a known key; did you mean 'image'?"],
  [
    'services:\n  shop:\n    imag: a\n    pot: 1',
    "3 services.shop.imag: is not a known key; did you mean 'image'?\n4 services.shop.pot: is not a known",
  ],
  ['services: { a: { env: { __proto__: b } } }', '1 berth.yaml: __proto__ cannot be a key'],
  ['services:\n  shop:\n    port: x', '3 services.shop.port: must be a number'],
  ['services:\n  shop:\n    env:\n      A:', "4 services.shop.env.A: must be a text; '' is an empty one"],
  [
    'services:\n  a: { image: a, folder: b }',
    '2 services.a: has more than one of repo_url, image and folder',
  ],
  ['jobs:\n  a: { image: b }', '2 jobs.a.schedule: is required: a cron job has one'],
  ['services: { a: {} }\ndatastores:\n  a: { kind: redis }', '3 datastores.a: this name is used twice'],
  [
    'services:\n  a:\n    type: background_worker\n    hsts: true',
    '4 services.a.hsts: only web services and',
  ],
  ['services:\n  a: { secrets: [A], env: { A: b } }', '2 services.a.env.A: is also one of the secrets'],
  ['services:\n  a: { domains: [x] }', '2 services.a.domains.0: a domain has at least two parts'],
  [
    'services:\n  a: { disk_mount_path: /a, instances: 2 }',
    '2 services.a.instances: a service with a disk has exactly one instance',
  ],
  ['jobs:\n  a: { schedule: "@daily", instances: 2 }', '2 jobs.a.instances: a cron job has exactly one'],
  ['services:\n  a: { root_dir: ../a }', '2 services.a.root_dir: must not leave the repository'],
  [
    'services:\n  a: { type: private_service, domains: [a.example.com] }',
    '2 services.a.domains: only web services and static sites',
  ],
  ['datastores:\n  a: { kind: redis, database: b }', '2 datastores.a.database: Redis has none to choose'],
  ['services: [', '1 berth.yaml: line 1: '],
]

for (const [text, expected] of violations) {
  test(`a file is refused by line: ${expected}`, () => {
    assert.throws(
      () => parseBlueprint(text),
      (error: Error) => error instanceof InvalidBlueprint && error.message.startsWith(expected),
    )
  })
}

test('texts of variables are kept as written, and anchors are resolved', () => {
  const { services } = parseBlueprint(`
services:
  a: { env: &common { A: 1.10, B: 0755, C: ~text, D: yes, E: 1e3 } }
  b: { env: *common }
`)
  const [, { env } = { env: [] }] = services
  assert.deepEqual(
    env.map(({ value }) => value),
    ['1.10', '0755', '~text', 'yes', '1e3'],
  )
})

test('the example of the manual is valid, and names what a first apply creates', () => {
  const [, example = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readPage('docs/blueprint.md')) ?? []
  const plan = planOf(example)
  assert.deepEqual(linesOf(plan), ['+ shop-db', '+ images', '+ shop', '+ nightly'])
  assert.deepEqual([plan.refusals, plan.missing], [[], [{ service: 'shop', key: 'STRIPE_KEY' }]])
})

for (const target of ['shop.berth.test', 'shop.example.com']) {
  test(`a domain may redirect to ${target}, which the server has`, () => {
    const state = { services: [current()], datastores: [], baseDomain: 'berth.test' }
    assert.deepEqual(makePlan(parseBlueprint(redirect(target)), state).refusals, [])
  })
}

test('a service that is to stay tells why one that it refers to cannot be deleted', () => {
  const value = '${{service.old.host}}'
  const services = [running('shop', { env: [{ key: 'A', value }] }), running('old')]
  const reasons = (text: string) => planOf(text, services).in_use.map(({ reason }) => reason)
  assert.deepEqual(reasons('services: { shop: {} }'), ['it cannot be deleted: it is in use by shop, as A'])
  assert.deepEqual(reasons('services: { shop: { env: { A: b } } }'), [])
  assert.equal(reasons(`services: { web: { env: { B: "x\${{service.old.port}}" } } }`).length, 1)
  // The one that refers to it goes, too.
  assert.deepEqual(reasons('services: {}'), [])
})

test('a suspended service that was never deployed has nothing to change', () => {
  const shop = running('shop', { image: 'nginx:latest', latest_deploy: null, suspended: true })
  assert.deepEqual(linesOf(planOf('services: { shop: { image: nginx } }', [shop])), [])
})

test('a domain of another service is refused before anything changes', () => {
  const text = 'services:\n  shop:\n    image: nginx\n    domains: [a.example.com]\n'
  const old = running('old', { domains: [{ domain: 'a.example.com', redirect_to: null }] })
  const [refusal] = planOf(text, [old]).refusals
  assert.equal(refusal?.reason, 'a.example.com is a domain of old')
  assert.equal(refusal?.hint, 'berth domains rm old a.example.com')
})

test('a service that was created and never deployed still has to be', () => {
  const shop = running('shop', { image: 'nginx:latest', latest_deploy: null })
  const text = 'services:\n  shop:\n    image: docker.io/library/nginx\n'
  assert.deepEqual(linesOf(planOf(text, [shop])), ['shop: deploy null → the first one at build'])
})

test('build arguments are sent as written, and an address with a password is refused', () => {
  const [service] = parseBlueprint(
    'services:\n  a:\n    repo_url: https://h/x.git\n    build_args: { V: 1.10 }\n',
  ).services
  assert.deepEqual(service?.request.build_args, { V: '1.10' })
  assert.throws(
    () => parseBlueprint('services:\n  a:\n    repo_url: https://u:p@h/x.git\n'),
    InvalidBlueprint,
  )
})

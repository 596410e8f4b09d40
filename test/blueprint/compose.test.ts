// Compose files as blueprints: what is carried over, and what is named instead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FileService } from '../../src/blueprint/blueprint.ts'
import { importCompose } from '../../src/blueprint/compose/compose.ts'
import { interpolate } from '../../src/blueprint/compose/interpolate.ts'
import { InvalidYaml } from '../../src/blueprint/yaml.ts'

const env = new Map([
  ['SECRET', 's3cret'],
  ['EMPTY', ''],
])

function read(text: string) {
  const files: Record<string, { key: string; value: string }[]> = {
    'api.env': [
      { key: 'WORD', value: 'abc' },
      { key: 'CACHE', value: 'redis://cache' },
    ],
  }
  return importCompose(text, { env, base: '', readEnvFile: (path) => files[path] ?? null })
}

test('a file with more keys or services than can be compared is refused at once', () => {
  const many = (number: number, line: (index: number) => string) =>
    Array.from({ length: number }, (_, index) => line(index)).join('\n')
  const keys = many(5200, (index) => `      A${index}: b`)
  const tooMany = /^line 5: it has too many keys: a map may have 5,000$/
  assert.throws(() => read(`services:\n  web:\n    image: a\n    environment:\n${keys}`), {
    message: tooMany,
  })
  const list = many(5200, (index) => `      - A${index}=b`)
  assert.throws(() => read(`services:\n  web:\n    image: a\n    environment:\n${list}`), {
    message: 'it has too many keys: a map may have 5,000',
  })
  const services = many(501, (index) => `  web${index}: { image: a }`)
  assert.throws(() => read(`services:\n${services}`), { message: 'it has more than 500 services' })
})

test('a dependency on no service is named', () => {
  const reason = 'no service of this name is carried over'
  for (const needs of ['[db, gone]', '{ db: {}, gone: { condition: service_healthy } }']) {
    const { left } = web(`build: ., depends_on: ${needs}`, '  db: { image: postgres:17 }')
    assert.deepEqual(
      left.filter((line) => line.includes(reason)),
      [`services.web.depends_on.gone: ${reason}`],
    )
  }
  const onRequest = web('build: ., depends_on: [tool]', '  tool: { image: a, profiles: [x] }')
  assert.ok(onRequest.left.includes(`services.web.depends_on.tool: ${reason}`))
})

/** The fields of the service `web` with these keys, and what is left of it: `privileged: …`. */
function web(keys: string, others = '') {
  const { blueprint, remaining } = read(`services:\n  web: { ${keys} }\n${others}`)
  const { env = {}, secrets, ...fields } = blueprint.services?.web ?? ({} as FileService)
  return { fields, env, secrets, left: remaining.map(({ what, reason }) => `${what}: ${reason}`) }
}

const settings: [keys: string, fields: object][] = [
  ['image: nginx', { image: 'nginx' }],
  ['build: .', { folder: '.' }],
  ['build: api/', { folder: './api' }],
  ['build: ../api', { folder: '../api' }],
  [
    'build: { dockerfile: a/Dockerfile, target: prod }',
    { folder: '.', dockerfile_path: 'a/Dockerfile', build_target: 'prod' },
  ],
  ['build: { args: [A=1, B] }', { folder: '.', build_args: { A: '1' }, build_env: ['B'] }],
  [
    'build: "https://example.com/a.git#main:api"',
    { repo_url: 'https://example.com/a.git', branch: 'main', root_dir: 'api' },
  ],
  ['build: ., command: null', { folder: '.' }],
  ['build: ., command: npm start', { folder: '.', start_command: 'npm start' }],
  ['build: ., command: [node, "a b"]', { folder: '.', start_command: "node 'a b'" }],
  ['image: a, entrypoint: [./run], command: ["--fast"]', { image: 'a', start_command: './run --fast' }],
  ['image: a, ports: ["80"]', { image: 'a', type: 'web_service', port: 80 }],
  ['image: a, ports: ["0.0.0.0:80:80/tcp"]', { image: 'a', type: 'web_service', port: 80 }],
  ['image: a, ports: [{ target: 80, published: 443 }]', { image: 'a', type: 'web_service', port: 80 }],
  ['image: a, expose: ["9000"]', { image: 'a', type: 'private_service', port: 9000 }],
  [
    'image: a, ports: ["80"], healthcheck: { test: curl -f http://localhost/up || exit 1 }',
    { image: 'a', type: 'web_service', port: 80, health_check_path: '/up' },
  ],
  [
    'image: a, deploy: { replicas: 2, resources: { limits: { cpus: "0.5", memory: 1g } } }',
    { image: 'a', instances: 2, cpu_limit: 0.5, memory_limit_mb: 1024 },
  ],
  [
    'image: a, mem_limit: 100000k, cpus: 2, init: false, restart: always',
    { image: 'a', memory_limit_mb: 98, cpu_limit: 2, init: false },
  ],
]

for (const [keys, fields] of settings) {
  test(`is carried over as a whole: ${keys}`, () => {
    const { fields: found, left } = web(keys)
    assert.deepEqual([found, left], [{ type: 'background_worker', ...fields }, []])
  })
}

const remarks: [keys: string, left: RegExp][] = [
  ['image: a, privileged: true', /^services\.web\.privileged: an instance has no rights on the host$/],
  ['image: a, sysctls: {}', /^services\.web\.sysctls: Berth has no such setting$/],
  ['image: a, build: .', /^services\.web\.image: it is the name of what is built$/],
  ['build: { network: host }', /^services\.web\.build\.network: /],
  ['image: a, command: --fast', /^services\.web\.command: write the image's own program/],
  [
    'image: a, command: ./run',
    /^services\.web\.command: carried over, but it also replaces the image's entrypoint/,
  ],
  [
    'image: a, ports: ["80:80", "443:443"]',
    /^services\.web\.ports\.1: not needed: Berth serves HTTPS itself/,
  ],
  ['image: a, ports: ["3000-3005"]', /^services\.web\.ports\.0: a service has one port/],
  ['image: a, ports: ["53:53/udp"]', /^services\.web\.ports\.0: Berth routes HTTP only/],
  ['image: a, ports: ["3306:3306"]', /^services\.web\.ports\.0: port 3306 is not HTTP/],
  ['image: a, ports: ["127.0.0.1:80:80"]', /^services\.web\.ports\.0: it was open to this host only/],
  ['image: a, volumes: ["./a:/a:ro"]', /^services\.web\.volumes\.0: an instance sees no files of the host/],
  ['image: a, volumes: [/a]', /^services\.web\.volumes\.0: it has no name, .* set disk_mount_path: \/a$/],
  [
    'image: a, healthcheck: { interval: 5s }',
    /^services\.web\.healthcheck\.interval: Berth has its own times/,
  ],
  ['image: a, healthcheck: { test: [CMD, pg_isready] }', /^services\.web\.healthcheck\.test: Berth checks/],
  ['image: a, healthcheck: { test: curl localhost }', /^services\.web\.healthcheck\.test: /],
  ['image: a, deploy: { mode: global }', /^services\.web\.deploy\.mode: /],
  [
    'image: a, deploy: { resources: { reservations: {} } }',
    /^services\.web\.deploy\.resources\.reservations: /,
  ],
  ['image: a, restart: "no"', /^services\.web\.restart: Berth restarts whatever ends/],
  ['image: a, env_file: no.env', /^services\.web\.env_file\.0: no\.env cannot be read/],
  ['image: a, environment: [A-B=1]', /^services\.web\.environment\.A-B: the name of a variable must/],
  ['image: a, environment: ["A=${NO}"]', /^services\.web\.environment\.0: not in \.env: NO/],
  ['image: a, profiles: [debug]', /^services\.web\.profiles: the service is left out/],
  ['image: "A B"', /^services\.web: image: image has a blank/],
  ['image: a, deploy: { replicas: 0 }', /^services\.web\.deploy\.replicas: '0' is no value/],
  ['image: a, deploy: { replicas: 0.5 }', /^services\.web: instances: must be a whole number/],
  ['image: a, mem_limit: 1k', /^services\.web: memory_limit_mb: must be 0 for the default, or at least 16/],
  ['image: a, expose: [3000-3005]', /^services\.web\.expose\.0: a service has one port/],
  ['image: a, expose: [80, 81]', /^services\.web\.expose\.1: a service has one port, and '81' is not it/],
  ['image: a, expose: [81], ports: [80]', /^services\.web\.expose\.0: a service has one port/],
  ['image: a, volumes: [{ source: d }]', /^services\.web\.volumes\.0: a mount of type undefined is no disk/],
  ['image: a, constructor: 1', /^services\.web\.constructor: Berth has no such setting/],
  ['image: a, command: { a: b }', /^services\.web\.command: it is no text/],
  ['image: a, entrypoint: [{ a: b }]', /^services\.web\.entrypoint: it is no text/],
  ['image: a, scale: { a: b }', /^services\.web\.scale: it is no text/],
  ['image: a, environment: { A: { B: c } }', /^services\.web\.environment\.A: it is no variable/],
  ['image: a, environment: [{ A: b }]', /^services\.web\.environment\./],
  ['image: a, environment: "${SECRET}"', /^services\.web\.environment\.0: it is no variable/],
  ['image: a, environment: ["${SECRET}"]', /^services\.web\.environment\.0: it is no variable/],
  ['build: { args: { "A.B": 1 } }', /^services\.web: build_args\.A\.B: must be letters/],
  ['image: a, command: "x --token=${SECRET}"', /^services\.web\.command: it has a value of \.env or a pass/],
  ['image: a, command: [x, "--password", abc]', /^services\.web\.command: it has a value of \.env/],
  ['image: a, environment: [API_KEY=abc]', /^services\.web\.environment\.API_KEY: it looks secret/],
  [
    'image: a, healthcheck: { test: curl localhost/up http://localhost/up }',
    /health_check_path: a background worker/,
  ],
]

for (const [keys, expected] of remarks) {
  test(`is named with the reason: ${keys}`, () => {
    const { left } = web(keys)
    assert.equal(left.length, 1)
    assert.match(left[0]!, expected)
  })
}

const numbers = {
  mem_limit: ['lots', '""', '-1', 0, '1.2.3g', '1x', 'NaN'],
  cpus: ['half', '""', '-1', 0, '0x10', '1e9', '.inf'],
  scale: ['two', '""', '-1', 0, '0x2', '.nan'],
  init: ['""', 'maybe'],
  ports: ['[""]', '["0:0"]', '[99999]', '[-80]', '[1e3]', '["8000:abc"]', '[{ published: 80 }]', '[null]'],
  expose: ['[""]', '[0]', '[99999]', '[abc/udp]'],
}

for (const [key, texts] of Object.entries(numbers)) {
  test(`a ${key} without a meaning is named, and not set: ${texts.join(' ')}`, () => {
    for (const text of texts) {
      const { fields, left } = web(`image: a, ${key}: ${text}`)
      assert.deepEqual({ ...fields, type: '' }, { type: '', image: 'a' }, String(text))
      assert.match(left.join('\n'), new RegExp(`^services\\.web\\.${key}.*(no value|not it)[^\n]*$`))
    }
  })
}

const database = `  db:
    image: postgres:16.3-alpine
    environment: { POSTGRES_USER: ada, POSTGRES_PASSWORD: pw, POSTGRES_DB: shop }
  cache: { image: valkey/valkey }
  api: { image: api }
`
const ref = (property: string) => `\${{datastore.db.${property}}}`

const values: [key: string, value: string, rewritten: string][] = [
  ['URL', 'postgres://ada:pw@db:5432/shop', ref('connectionString')],
  ['URL', 'postgresql://ada:pw@db/shop?sslmode=disable', `${ref('connectionString')}?sslmode=disable`],
  [
    'URL',
    'postgresql+asyncpg://ada:pw@db:5432/shop',
    `postgresql+asyncpg://${ref('user')}:${ref('password')}@${ref('host')}:${ref('port')}/${ref('database')}`,
  ],
  [
    'URL',
    'postgres://ada:pw@db:5432/other',
    `postgres://${ref('user')}:${ref('password')}@${ref('host')}:${ref('port')}/other`,
  ],
  ['URL', 'postgres://db', ref('connectionString')],
  ['JDBC', 'jdbc:postgresql://db:5432/shop', `jdbc:postgresql://${ref('host')}:5432/shop`],
  ['PG_HOST', 'db', ref('host')],
  ['PG_HOST', 'db:5432', `${ref('host')}:5432`],
  ['PG_PASSWORD', '', ''],
  ['MODE', 'db', 'db'],
  ['MODE', 'pw', 'pw'],
  ['PATH_NAME', 'db/files', 'db/files'],
  ['CACHE', 'redis://cache:6379/2', '${{datastore.cache.connectionString}}/2'],
  ['CACHE', 'redis://cache', '${{datastore.cache.connectionString}}'],
  ['API', 'http://api:4000/v1', 'http://${{service.api.host}}:4000/v1'],
  ['BROKERS', 'api:1,api:2', '${{service.api.host}}:1,${{service.api.host}}:2'],
  ['LITERAL', '${{x}}', '$${{x}}'],
  ['PRICE', '5', '5'],
]

for (const [key, value, rewritten] of values) {
  test(`${key}=${value} refers to the service that it names, or stays`, () => {
    const quoted = JSON.stringify(value.replaceAll('$', '$$$$'))
    const { env } = web(`image: a, environment: { ${key}: ${quoted} }`, database)
    assert.deepEqual(env, { [key]: rewritten })
  })
}

test('a container name, a host name and an alias are names of the service too', () => {
  const { env } = web(
    'image: a, environment: { DB: "postgres://u:p@shop.db/u", A: "http://inner:80", HOST: www }',
    `  db: { image: "postgres:16", container_name: shop.db, environment: { POSTGRES_USER: u } }
  api: { image: b, hostname: inner, networks: { n: { aliases: [www] } } }
`,
  )
  const host = '${{service.api.host}}'
  assert.deepEqual(env, { DB: ref('connectionString'), A: `http://${host}:80`, HOST: host })
})

test('a service whose name is no host is named by no value', () => {
  const { env } = web('image: a, environment: { HOST: undefined, A: ":80,(" }', '  "(": { image: b }\n')
  assert.deepEqual(env, { HOST: 'undefined', A: ':80,(' })
})

test('databases become datastores, and others may connect where Compose lets them', () => {
  const { blueprint, remaining } = read(`services:
${database}  web: { image: a, ports: ["80"], depends_on: [db, api], environment: { CACHE: "redis://cache" } }
`)
  assert.deepEqual(blueprint.datastores, {
    db: { kind: 'postgres', version: '16', username: 'ada', database: 'shop' },
    cache: { kind: 'redis', version: undefined },
  })
  assert.deepEqual(blueprint.services?.web?.env, {
    CACHE: '${{datastore.cache.connectionString}}',
    DB_URL: ref('connectionString'),
    API_HOST: '${{service.api.host}}',
  })
  assert.equal(blueprint.services?.api?.type, 'private_service')
  assert.deepEqual(
    remaining.map(({ line, what }) => `${line} ${what}`),
    [
      '4 services.db.environment.POSTGRES_PASSWORD',
      '5 services.cache.image',
      '7 services.web.depends_on.db',
      '7 services.web.depends_on.api',
    ],
  )
})

test('a datastore whose password no variable has is named', () => {
  const { left } = web('image: a, environment: { REDIS_HOST: cache }', '  cache: { image: redis:7 }')
  assert.match(
    left.join('\n'),
    /^services\.cache: no variable has its password: give one \${{datastore\.cache/,
  )
})

test('values of .env, env_file and the shell become secrets by name, those of the file stay', () => {
  const keys =
    'env_file: api.env, environment: { A: "x${SECRET}", B: "${NO:-y}", C: "${NO}", WORD: z, SHELL: }'
  const { env, secrets } = web(`image: a, ${keys}`, '  cache: { image: redis:7 }')
  assert.deepEqual(env, { CACHE: '${{datastore.cache.connectionString}}', B: 'y', WORD: 'z' })
  assert.deepEqual(secrets, ['A', 'C', 'SHELL'])
})

test('a value of .env with a password in it stays a secret, also if it names a service', () => {
  const env = new Map([
    ['API_URL', 'http://user:hunter2@api:3000/'],
    ['CACHE_URL', 'redis://cache'],
  ])
  const others = '  cache: { image: redis:7 }\n  api: { image: b }\n'
  const text = `services:\n  web: { image: a, environment: [API_URL, CACHE_URL] }\n${others}`
  const { blueprint } = importCompose(text, { env, base: '.', readEnvFile: () => null })
  assert.deepEqual(blueprint.services?.web?.secrets, ['API_URL'])
  // It may still connect to what only the secret names.
  assert.deepEqual(blueprint.services?.web?.env, {
    CACHE_URL: '${{datastore.cache.connectionString}}',
    API_HOST: '${{service.api.host}}',
  })
})

test('an address from .env that is a datastore as a whole is a reference, and else one is added', () => {
  const env = new Map([['PW', 'hunter2']])
  const text = `services:
  cache: { image: "redis:7" }
  db: { image: "postgres:16" }
  web:
    image: a
    environment: { CACHE_URL: "redis://:$PW@cache:6379/1", DB_URL: "postgres://postgres:$PW@db/x?a=b" }
`
  const { blueprint } = importCompose(text, { env, base: '.', readEnvFile: () => null })
  assert.deepEqual(blueprint.services?.web?.secrets, ['DB_URL'])
  assert.deepEqual(blueprint.services?.web?.env, {
    CACHE_URL: '${{datastore.cache.connectionString}}/1',
    DB_URL_2: '${{datastore.db.connectionString}}',
  })
})

const suspects = [
  'C=redis://:a$$$$b@h',
  'D=a://u:x/y@h',
  'DB_PASSWORD=abc',
  'STRIPE_KEY=sk_1',
  'A=postgres://u:abc@example.com/x',
  'A=x --token abc',
]
for (const line of suspects) {
  test(`${line} of the Compose file becomes a secret by name, and is named`, () => {
    const [key] = line.split('=')
    const { env, secrets, left } = web(`image: a, environment: [${JSON.stringify(line)}]`)
    assert.deepEqual([env, secrets], [{}, [key]])
    assert.match(
      left.join('\n'),
      /^services\.web\.environment\.\w+: it looks secret: its value is in berth.secrets.env$/,
    )
  })
}

for (const line of [
  'DB_PASSWORD=',
  'EMPTY_PASSWORD=yes',
  'PUBLIC_KEY=abc',
  'URL=http://a:80/x@y',
  'KEYS=1',
]) {
  test(`${line} of the Compose file is no secret`, () => {
    const { secrets, left } = web(`image: a, environment: [${JSON.stringify(line)}]`)
    assert.deepEqual([secrets, left], [[], []])
  })
}

test('names become those of Berth, and anchors and merges are resolved', () => {
  const { blueprint, remaining } = read(`
x-base: &base { image: a, restart: always }
name: shop
services:
  My_App: { <<: *base, privileged: true }
  other: { <<: *base, environment: { URL: "http://My_App:80" } }
`)
  assert.deepEqual(Object.keys(blueprint.services ?? {}), ['my-app', 'other'])
  assert.deepEqual(blueprint.services?.other?.env, { URL: 'http://${{service.my-app.host}}:80' })
  assert.deepEqual(
    remaining.map(({ line, what }) => `${line} ${what}`),
    ['3 name', '5 services.My_App', '5 services.My_App.privileged'],
  )
})

test('names that become the same one are kept under free ones', () => {
  const { blueprint, remaining } = read(`services:
  my_app: { image: a }
  my-app: { image: b, environment: { URL: "http://my_app:80" } }
  My.App: { image: "redis:7" }
  "数据": { image: c }
  "-1-": { image: d }
  ${'long-'.repeat(12)}x: { image: e }
`)
  const images = Object.entries(blueprint.services ?? {}).map(([name, { image }]) => `${name} ${image}`)
  const long = 'long-'.repeat(7)
  assert.deepEqual(
    images.toSorted(),
    [`${long}l e`, 'my-app b', 'my-app-2 a', 'service c', 'service-2 d'].toSorted(),
  )
  assert.deepEqual(Object.keys(blueprint.datastores ?? {}), ['my-app-3'])
  assert.deepEqual(blueprint.services?.['my-app']?.env, { URL: 'http://${{service.my-app-2.host}}:80' })
  const renamed = remaining.filter(({ reason }) => reason.startsWith('it is called'))
  assert.deepEqual(
    renamed.map(({ line }) => line),
    [2, 4, 5, 6, 7],
  )
})

test('a service without keys is named, and one with no profile in its list is carried over', () => {
  const { blueprint, remaining } = read('services:\n  a:\n  b: []\n  c: { image: c, profiles: [] }\n')
  assert.deepEqual(Object.keys(blueprint.services ?? {}), ['c'])
  assert.match(remaining.map(({ what }) => what).join(' '), /^services\.a services\.b/)
})

const multiplied = [...'bcdefgh'].reduce(
  (text, key, index) => `${text}${key}: &${key} [${`*${'abcdefgh'[index]},`.repeat(9)}]\n`,
  '',
)
const hostile: [what: string, text: string][] = [
  ['an alias inside of its anchor', 'x-a: &a [*a]\nservices: { web: { image: a } }'],
  ['lists without an end', `services: ${'['.repeat(20_000)}`],
  ['aliases that multiply', `a: &a [1]\n${multiplied}services: { web: { image: a } }`],
  ['a key of the language', 'services: { web: { image: a, environment: { __proto__: b } } }'],
  ['a tab', 'services:\n\tweb: { image: a }'],
  ['a key twice', 'services:\n  web: { image: a }\n  web: { image: b }'],
]

for (const [what, text] of hostile) {
  test(`${what} is refused like any broken file`, () => assert.throws(() => read(text), InvalidYaml))
}

test('a file with the line ends of Windows, and with a mark of its encoding, is read', () => {
  const { blueprint } = read('\uFEFFservices:\r\n  web:\r\n    image: a\r\n    init: true\r\n')
  assert.deepEqual(blueprint.services?.web, {
    type: 'background_worker',
    image: 'a',
    init: true,
    env: {},
    secrets: [],
  })
})

test('a file without services, or with broken YAML, is refused by line', () => {
  assert.throws(() => read('version: "3"'), InvalidYaml)
  assert.throws(() => read('services:\n  a: [}'), /line 2: /)
})

const interpolations: [text: string, result: string, isPrivate: boolean, unset: string[]][] = [
  ['a$SECRET-b', 'as3cret-b', true, []],
  ['${SECRET}', 's3cret', true, []],
  ['$$SECRET $5', '$SECRET $5', false, []],
  ['${NO:-a b}', 'a b', false, []],
  ['${NO-${SECRET}}', 's3cret', true, []],
  ['${EMPTY-x}', '', true, []],
  ['${EMPTY:-x}', 'x', false, []],
  ['${SECRET:+yes}${NO+no}', 'yes', false, []],
  ['${NO}|${NO:?is needed}', '|', false, ['NO', 'NO']],
]

for (const [given, text, isPrivate, unset] of interpolations) {
  test(`${given} is interpolated as Compose does it`, () => {
    assert.deepEqual(interpolate(given, env), { text, isPrivate, unset })
  })
}

// Commands of Compose files: which can be a start command, and which run before a deploy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importCompose } from '../../src/blueprint/compose/compose.ts'

function read(text: string, files: Record<string, string> = {}) {
  const surroundings = { env: new Map<string, string>(), base: '', readEnvFile: () => null }
  const { blueprint, remaining } = importCompose(text, {
    ...surroundings,
    readText: (path) => files[path] ?? null,
  })
  return {
    services: blueprint.services ?? {},
    lines: remaining.map(({ what, reason }) => `${what}: ${reason}`),
  }
}

const refused = [
  'image: app, command: "--config.file=/etc/x.yml"',
  'image: app, command: ["--config.file=/etc/x.yml"]',
  'image: app, command: ["--a", "b"]',
  'image: app, command: ["--a", "b", "--c"]',
  'image: app, command: [-c, x]',
  'image: app, entrypoint: [], command: [--a]',
  'image: n8n, command: worker',
  'image: n8n, command: [worker]',
  'image: app, command: "server /data"',
  'image: app, command: [start, --optimized]',
  'image: app, command: scheduler',
  'image: app, command: unknown',
  'build: ., command: --fast',
]
for (const keys of refused) {
  test(`a command for an entrypoint is not carried over, and named: ${keys}`, () => {
    const { services, lines } = read(`services:\n  web: { ${keys} }\n`)
    assert.equal(services.web?.start_command, undefined)
    assert.match(
      lines.join('\n'),
      /^services\.web\.(command|entrypoint): .*write the image's own program before/m,
    )
  })
}

const carried: [keys: string, command: string][] = [
  ['image: app, command: ./run', './run'],
  ['image: app, command: [/bin/app, --a]', '/bin/app --a'],
  ['image: app, command: httpd -f', 'httpd -f'],
  ['image: app, command: [sh, -c, "a && b"]', "sh -c 'a && b'"],
  ['image: app, command: sidekiq', 'sidekiq'],
  ['image: "foo/listmonk:1", command: listmonk', 'listmonk'],
  ['image: app, command: myapp --fast', 'myapp --fast'],
  ['image: app, entrypoint: run, command: worker', 'run worker'],
  ['image: app, entrypoint: "", command: ./worker', './worker'],
  [
    'image: "mysql:8", command: --character-set-server=utf8',
    'docker-entrypoint.sh --character-set-server=utf8',
  ],
  ['image: "mariadb", command: [mariadbd, --x]', 'docker-entrypoint.sh mariadbd --x'],
]
for (const [keys, command] of carried) {
  test(`a command that can run is carried over: ${keys}`, () => {
    assert.equal(read(`services:\n  web: { ${keys} }\n`).services.web?.start_command, command)
  })
}

const dockerfiles: [dockerfile: string, command: string, keys: string][] = [
  ['FROM a\nENTRYPOINT ["./entry.sh", "x y"]', "./entry.sh 'x y' worker", ''],
  ['FROM a AS base\nENTRYPOINT ["./a"]\nFROM base\nRUN b', './a worker', ''],
  ['FROM a AS one\nENTRYPOINT ["./a"]\nFROM b\nENTRYPOINT ["./b"]', './a worker', ', target: one'],
  ['FROM a\nCMD ["./b"]', 'worker', ''],
]
for (const [dockerfile, command, keys] of dockerfiles) {
  test(`a command of a build follows the entrypoint of its Dockerfile: ${command}${keys}`, () => {
    const text = `services:\n  web: { build: { context: ./api${keys} }, command: worker }\n`
    assert.equal(read(text, { 'api/Dockerfile': dockerfile }).services.web?.start_command, command)
  })
}

const once = (migrate: string, web: string) => `services:
  migrate: { ${migrate} }
  web: { ${web}, ports: ["80:80"], depends_on: { migrate: { condition: service_completed_successfully } } }
`

for (const source of ['image: app', 'build: .', 'build: { context: ., target: prod }']) {
  test(`what runs once in the same ${source} is the pre-deploy command of what waits for it`, () => {
    const { services, lines } = read(once(`${source}, command: [./migrate, up]`, source))
    assert.deepEqual(Object.keys(services), ['web'])
    assert.equal(services.web?.pre_deploy_command, './migrate up')
    assert.ok(lines.includes('services.migrate: it runs once, so it is the pre_deploy_command of web'))
  })
}

const others: [migrate: string, web: string, reason: RegExp][] = [
  ['image: tool, command: ./up', 'image: app', /it has another image/],
  ['build: ./a, command: ./up', 'build: ./b', /it has another image/],
  ['image: app', 'image: app', /its command is that of the image/],
  ['image: app, command: --up', 'image: app', /its command is that of the image/],
  ['image: app, command: ./up, environment: { A: b }', 'image: app', /web does not have its variable A/],
  ['image: app, command: ./up, volumes: ["./d:/d"]', 'image: app', /a pre-deploy command has no disk/],
]
for (const [migrate, web, reason] of others) {
  test(`what runs once is left out with a reason, if it is no pre-deploy command: ${migrate}`, () => {
    const { services, lines } = read(once(migrate, web))
    assert.deepEqual([Object.keys(services), services.web?.pre_deploy_command], [['web'], undefined])
    assert.match(lines.find((line) => line.startsWith('services.migrate: '))!, reason)
  })
}

test('what runs once after another that runs once comes after it in the pre-deploy command', () => {
  const { services } = read(`services:
  worker: { image: app, depends_on: &after { seed: { condition: service_completed_successfully } } }
  web: { image: app, ports: ["80:80"], depends_on: *after }
  seed: { image: app, command: ./seed, depends_on: { make: { condition: service_completed_successfully } } }
  make: { image: app, command: ./make, depends_on: [db] }
  db: { image: "postgres:17" }
`)
  assert.equal(services.web?.pre_deploy_command, './make && ./seed')
  assert.equal(services.web?.env?.DB_URL, '${{datastore.db.connectionString}}')
  assert.deepEqual(Object.keys(services), ['worker', 'web'])
})

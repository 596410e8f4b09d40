// `berth import`, `berth plan`, `berth apply` and `berth export`, against a real server.
import assert from 'node:assert/strict'
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { openDatastoreSite } from '../../support/daemon/datastores.ts'
import { fileScope } from '../../support/daemon/scope.ts'
import { pageApp, until } from '../../support/daemon/service.ts'
import { createRepository } from '../../support/git/repository.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const suite = await openDatastoreSite(fileScope())

/** A folder with this file, and `berth` in it. */
function place(t: TestContext, text: string, name = 'berth.yaml') {
  const cwd = temporaryDirectory(t)
  const write = (text: string, file = name) => writeFileSync(join(cwd, file), text)
  write(text)
  const berth = (...args: string[]) => runBerth(t, args, { daemon: suite.daemon, cwd })
  const read = (file: string) => readFileSync(join(cwd, file), 'utf8')
  return { cwd, write, read, berth }
}

test('a plan is applied with its deploys, again without a change, and pruned by count', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', await pageApp('one'))
  const { write, berth } = place(
    t,
    `services:
  shop:
    repo_url: ${repository.directory}
    drain_seconds: 0
    env: { GREETING: 1.10, API: "\${{service.api.internalUrl}}" }
    secrets: [KEY]
    domains: [shop.example.com, { domain: www.shop.example.com, redirect_to: shop.example.com }]
  api: { type: private_service, folder: ./api, env: { SHOP: "\${{service.shop.host}}" } }
jobs:
  nightly: { schedule: '0 3 * * *', folder: ./job }
`,
  )
  const planned = await berth('plan')
  assert.equal(planned.code, 0, planned.stderr)
  assert.match(planned.stdout, /^\+ service shop \(web_service\)$/m)
  assert.match(planned.stdout, /the secret KEY of shop is not on the server/)
  const [, fingerprint = ''] = /--plan (\w+)/.exec(planned.stderr) ?? []

  const unknown = await berth('apply', '--plan', fingerprint)
  assert.deepEqual([unknown.code, (await suite.api.get('/services')).length], [2, 0])
  assert.match(unknown.stderr, /berth env set shop KEY=-/)

  write('KEY=hidden\n', 'secrets.env')
  const applied = await berth('apply', '--plan', fingerprint, '--secrets', 'secrets.env')
  assert.equal(applied.code, 0, applied.stderr)
  assert.match(applied.stderr, /next: berth up api \.\/api/)
  assert.doesNotMatch(planned.stdout + applied.stdout + applied.stderr, /hidden/)
  const shop = await suite.api.get('/services/shop')
  assert.deepEqual([shop.state, shop.drain_seconds], ['live', 0])
  assert.deepEqual(await suite.api.get('/services/shop/env'), [
    { key: 'API', value: '${{service.api.internalUrl}}' },
    { key: 'GREETING', value: '1.10' },
    { key: 'KEY', value: 'hidden' },
  ])
  const domains = await suite.api.get('/services/shop/domains')
  assert.equal(domains.at(-1).redirect_to, 'shop.example.com')

  const again = await berth('apply', '--yes')
  assert.deepEqual([again.code, again.stderr], [0, 'nothing to change\n'])
  assert.equal((await suite.api.get('/services/shop')).revision, shop.revision)

  write(`services: { shop: { repo_url: ${repository.directory}, drain_seconds: 1, instances: 2 } }`)
  const inUse = await berth('apply', '--yes', '--prune', '--prune-count', '2')
  assert.equal(inUse.code, 1)
  assert.match(
    inUse.stderr,
    /it is in use by shop, as API\n.*berth env unset shop API[\s\S]*nothing was changed/,
  )
  assert.equal((await suite.api.get('/services/shop')).revision, shop.revision)
  await berth('env', 'unset', 'shop', 'API')
  // These two refer to each other.
  await berth('env', 'set', 'nightly', 'API=${{service.api.host}}')
  await berth('env', 'set', 'api', 'JOB=${{service.nightly.host}}')
  const refused = await berth('apply', '--yes', '--prune')
  assert.doesNotMatch(refused.stderr, /berth delete/)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /deletes api, nightly: deploys, logs, settings, and the values of secrets/)
  assert.match(refused.stderr, /--prune-count 2/)
  const pruned = await berth('apply', '--yes', '--prune', '--prune-count', '2')
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.match(pruned.stderr, /next: berth restart shop/)
  await until('the services are deleted', async () => (await suite.api.get('/services')).length === 1)
  assert.equal((await suite.api.get('/services/shop')).instances, 2)
  assert.equal((await suite.api.get('/services/shop/env')).length, 2)

  const exported = await berth('export')
  assert.doesNotMatch(exported.stdout, /hidden|1\.10/)
  write(exported.stdout)
  assert.match((await berth('plan')).stdout, /^nothing to change$/m)
  await suite.api.call('DELETE', '/services/shop')
})

test('a plan is refused if the server changes before it is confirmed', async (t) => {
  const { cwd, berth } = place(t, 'services: { late: { folder: ., secrets: [KEY] } }')
  const terminal = openFakeTerminal(t, ['apply'], { daemon: suite.daemon, cwd })
  await terminal.shows('The secret KEY of late?')
  terminal.type('hidden\r')
  await terminal.shows('Apply this?')
  await suite.api.post('/services', { name: 'late', deploy: false })
  terminal.type('y')
  assert.equal(await terminal.ended(), 1)
  await terminal.shows('is not what the plan was made from')
  assert.doesNotMatch(terminal.written, /hidden/)
  assert.deepEqual(await suite.api.get('/services/late/env'), [])
  await suite.api.call('DELETE', '/services/late')

  const { code, stderr } = await berth('apply', '--plan', '0123456789ab')
  assert.deepEqual([code, /nothing was changed/.test(stderr)], [1, true])
})

test('a file with a refusal changes nothing, and an invalid one is reported by line', async (t) => {
  await suite.api.post('/services', { name: 'kept', type: 'private_service', deploy: false })
  const { write, berth } = place(t, 'services: { kept: { type: web_service }, added: { folder: . } }')
  const { code, stderr } = await berth('apply', '--yes')
  assert.equal(code, 1)
  assert.match(stderr, /it is a private_service, and the file says web_service\n.*berth delete kept/)
  assert.equal((await suite.api.call('GET', '/services/added')).status, 404)

  await suite.api.call('DELETE', '/services/kept')
  write('services:\n  kept:\n    pot: 1\n')
  const invalid = await berth('plan')
  assert.equal(invalid.code, 2)
  assert.match(invalid.stderr, /berth\.yaml:3 services\.kept\.pot: is not a known key; did you mean 'port'\?/)
})

test('a failure in the middle tells what is left, and the same command goes on with it', async (t) => {
  const text = `services:
  first: { folder: ./first }
  second: { type: private_service, folder: ./second }
datastores:
  early: { kind: redis, version: 7 }
  never: { kind: redis, version: "999" }
`
  const { berth } = place(t, text)
  const failed = await berth('apply', '--yes')
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /datastore early was created\n[\s\S]*never failed: /)
  assert.match(failed.stderr, /not finished: datastore never, service first, service second; apply again/)
  assert.equal((await suite.api.call('GET', '/services/first')).status, 404)

  const finished = await berth('apply', '--yes')
  assert.equal(finished.code, 0, finished.stderr)
  assert.match(finished.stderr, /first was created\n.*second was created\n.*berth up first \.\/first/)
  const again = await berth('apply', '--yes')
  assert.deepEqual([again.code, again.stderr], [0, 'nothing to change\n'])
  for (const name of ['first', 'second']) await suite.api.call('DELETE', `/services/${name}`)
  for (const name of ['early', 'never']) await suite.api.call('DELETE', `/datastores/${name}?purge=true`)
  await until('they are gone', async () => (await suite.api.get('/datastores')).length === 0)
})

test('a file that is not there is named, with what to do', async (t) => {
  const { berth } = place(t, '')
  const { code, stderr } = await berth('plan', 'nope.yaml')
  assert.equal(code, 2)
  assert.match(stderr, /there is no file nope\.yaml\n.*berth import writes one from a Compose file/)
  assert.match((await berth('import', 'nope.yml')).stderr, /there is no file nope\.yml\n.*berth import FILE/)
})

test('a secret that the server would refuse is refused before anything changes', async (t) => {
  const { write, berth } = place(t, 'services: { a: { folder: . }, b: { folder: ., secrets: [KEY] } }')
  write(`KEY=${'x'.repeat(70_000)}\n`, 'secrets.env')
  const { code, stderr } = await berth('apply', '--yes', '--secrets', 'secrets.env')
  assert.equal(code, 2)
  assert.match(stderr, /nothing was changed: the secret KEY must be at most 64 KiB long/)
  assert.equal((await suite.api.call('GET', '/services/a')).status, 404)
})

test('a secret of a service that the file does not have is refused before anything changes', async (t) => {
  const { write, berth } = place(t, 'services: { web: { folder: ., secrets: [KEY] } }')
  write('KEY=a\nwbe.KEY=b\n', 'secrets.env')
  const { code, stderr } = await berth('apply', '--yes', '--secrets', 'secrets.env')
  assert.equal(code, 2)
  assert.match(stderr, /nothing was changed: wbe\.KEY is of no service of the file/)
})

test('the disk of a service that is pruned stays, and is named before', async (t) => {
  const repository = createRepository(t)
  repository.commit('First', await pageApp('one'))
  const service = `{ repo_url: ${repository.directory}, drain_seconds: 0, disk_mount_path: /data }`
  const { write, berth } = place(t, `services: { files: ${service} }`)
  const applied = await berth('apply', '--yes')
  assert.equal(applied.code, 0, applied.stderr)
  write('services: {}')
  const pruned = await berth('apply', '--prune', '--prune-count', '1')
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.match(
    pruned.stderr,
    /deletes files: .*\n.*keeps the disk of files, until it is deleted: berth disks/,
  )
  await until('the service is deleted', async () => (await suite.api.get('/services')).length === 0)
  const [disk] = await suite.api.get('/disks')
  assert.deepEqual([disk.service_name, disk.kept], ['files', true])
  await suite.api.post('/services', { name: 'unrelated', deploy: false })
  write(`services: { files: ${service.replace('}', ', env: { LEVEL: debug, TOKEN: hidden } }')} }`)
  const { stdout } = await berth('plan')
  assert.match(stdout, /^ {4}env LEVEL +debug$/m)
  assert.match(stdout, new RegExp(`^ {4}disk +${disk.name}, which a former files left$`, 'm'))
  assert.match(stdout, /^1 service that the file does not name; kept: berth services, /m)
  assert.doesNotMatch(stdout, /hidden|berth delete/)
  await suite.api.call('DELETE', '/services/unrelated')

  write(`services: { files: { disk_mount_path: /data } }`)
  assert.match((await berth('apply', '--yes')).stderr, new RegExp(`its disk is ${disk.name}`))
  await suite.api.call('DELETE', '/services/files')
  await until('it is deleted', async () => (await suite.api.get('/services')).length === 0)
  const named = await berth('create', 'files', '--disk', '/data', '--no-deploy')
  assert.match(named.stderr, new RegExp(`its disk is ${disk.name}`))
  assert.deepEqual(
    (await suite.api.get('/disks')).map(({ kept }: { kept: boolean }) => kept),
    [false],
  )
  await suite.api.call('DELETE', '/services/files?delete_disk=true&purge=true')
  await until('both are deleted', async () => (await suite.api.get('/disks')).length === 0)
})

const compose = `services:
  web:
    build: ./web
    ports: ["8080:3000"]
    environment: { CACHE: redis://cache:6379/1, TOKEN: "\${TOKEN}" }
    privileged: true
  worker: { build: ./web, command: [node, worker.js], depends_on: [web] }
  cache: { image: "redis:7-alpine", volumes: ["data:/data"] }
volumes: { data: {} }
`

test('a Compose file is imported, planned and applied; a second time changes nothing', async (t) => {
  const { write, read, berth } = place(t, compose, 'docker-compose.yml')
  write('TOKEN=hidden\n', '.env')
  const imported = await berth('import')
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(
    imported.stdout,
    /^docker-compose\.yml:6 services\.web\.privileged: an instance has no rights/m,
  )
  assert.match(imported.stderr, /next: berth plan/)
  assert.doesNotMatch(read('berth.yaml'), /hidden/)
  assert.equal((await berth('import')).code, 2)

  const [, fingerprint = ''] = /--plan (\w+)/.exec((await berth('plan')).stderr) ?? []
  const applied = await berth('apply', '--plan', fingerprint, '--secrets', 'berth.secrets.env')
  assert.equal(applied.code, 0, applied.stderr)
  assert.match(applied.stderr, /creating[\s\S]*next: berth up web \.\/web/)
  assert.deepEqual(
    (await suite.api.get('/services')).map(({ name, type }: { name: string; type: string }) => [name, type]),
    [
      ['web', 'web_service'],
      ['worker', 'background_worker'],
    ],
  )
  assert.deepEqual(await suite.api.get('/services/web/env'), [
    { key: 'CACHE', value: '${{datastore.cache.connectionString}}/1' },
    { key: 'TOKEN', value: 'hidden' },
  ])
  assert.equal((await suite.api.get('/datastores'))[0].version, '7')
  const again = await berth('apply', '--yes')
  assert.deepEqual([again.code, again.stderr], [0, 'nothing to change\n'])

  write('services: {}', 'berth.yaml')
  const pruned = await berth('apply', '--prune', '--prune-count', '2')
  assert.equal(pruned.code, 0, pruned.stderr)
  await until('the services are deleted', async () => (await suite.api.get('/services')).length === 0)
  assert.equal((await suite.api.get('/datastores'))[0].status, 'available')
})

test('secrets under other names than in .env are applied from the file that the import wrote', async (t) => {
  const text = `services:
  one: { image: a, environment: { PGPASS: "\${DB_PASSWORD}", APP_SECRET: change-me, MODE: "\${MODE}" } }
  two: { image: a, environment: { PGPASS: "x\${DB_PASSWORD}" } }
`
  const { cwd, write, read, berth } = place(t, text, 'compose.yaml')
  write('DB_PASSWORD=hidden\nMODE=fast\n', '.env')
  write('', 'elsewhere')
  symlinkSync('elsewhere', join(cwd, 'berth.secrets.env'))
  const imported = await berth('import', '--yes')
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stderr, /berth\.secrets\.env has the values of 3 secrets: keep it out of git/)
  assert.equal(read('elsewhere'), '')
  assert.equal(statSync(join(cwd, 'berth.secrets.env')).mode & 0o777, 0o600)
  assert.doesNotMatch(imported.stdout + imported.stderr + read('berth.yaml'), /hidden|change-me/)

  const planned = await berth('plan')
  const [, next = ''] = /next: berth (apply --plan .*)/.exec(planned.stderr) ?? []
  assert.match(next, /--secrets berth\.secrets\.env$/)
  const applied = await berth(...next.split(' '), '--no-follow')
  assert.equal(applied.code, 0, applied.stderr)
  assert.deepEqual(await suite.api.get('/services/one/env'), [
    { key: 'APP_SECRET', value: 'change-me' },
    { key: 'MODE', value: 'fast' },
    { key: 'PGPASS', value: 'hidden' },
  ])
  assert.deepEqual(await suite.api.get('/services/two/env'), [{ key: 'PGPASS', value: 'xhidden' }])
  for (const name of ['one', 'two']) await suite.api.call('DELETE', `/services/${name}`)
  await until('the services are deleted', async () => (await suite.api.get('/services')).length === 0)
})

// Sources without a Dockerfile, built by a recipe: what is served, what the log says, and what is kept.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { dockerfile, fetchPage, finishedDeploy, logLines, pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { provideBases, type RecipeBases } from '../support/docker/recipe-bases.ts'
import { siteServerImage } from '../support/docker/server-images.ts'

const suite = daemonSuite({ args: [`--static-image=${await siteServerImage()}`] })
let bases: RecipeBases | null = null

before(async () => {
  bases = await provideBases(['node:22', 'node:22-slim'])
})
after(() => bases?.release())

const manifest = (fields: object) => JSON.stringify({ name: 'app', engines: { node: '22' }, ...fields })

/** A server of Node.js that answers with the text. */
const server = (text: string) => `
import { createServer } from 'node:http'
createServer((_, response) => response.end(${JSON.stringify(text)})).listen(process.env.PORT)
process.on('SIGTERM', () => process.exit())
`

const nodeApp = (text: string, fields: object = {}) => ({
  'package.json': manifest({ type: 'module', scripts: { start: 'node server.js' }, ...fields }),
  'server.js': server(text),
})

test('a recipe builds and serves a source; the log and the API say what was chosen', async (t) => {
  const { api } = suite
  const { name, first } = await createService(
    t,
    api,
    {
      ...nodeApp('Hello'),
      Procfile: 'release: echo migrating $SHOP\nworker: node worker.js\n',
    },
    { env: [{ key: 'SHOP', value: 'red' }] },
  )

  const lines = await logLines(api, first.id)
  assert.equal(first.error, null, lines.join('\n'))
  assert.equal(await fetchPage(api, name), 'Hello')
  const recipe = await api.get(`/services/${name}/recipe`)
  assert.deepEqual(
    [recipe.deploy_id, recipe.builder, recipe.pre_deploy_command],
    [first.id, 'recipe', 'echo migrating $SHOP'],
  )
  assert.deepEqual(recipe.workers, [{ name: 'worker', command: 'node worker.js' }])
  assert.match(recipe.dockerfile, /^FROM node:22-slim AS /m)
  for (const { what, reason } of recipe.choices) assert.ok(lines.includes(`${what}: ${reason}`), what)
  const ran = lines.indexOf('migrating red')
  assert.ok(ran > lines.findIndex((line) => line.includes('echo migrating $SHOP')), lines.join('\n'))
  assert.ok(ran < lines.findIndex((line) => line.startsWith('started instance 1')))
})

test('data in files is warned about until a disk covers it', async (t) => {
  const { api } = suite
  const database =
    "import { DatabaseSync } from 'node:sqlite'\nexport const open = () => new DatabaseSync('data/a.db')"
  const { name, first } = await createService(t, api, { ...nodeApp('Hello'), 'database.js': database })

  const reason = 'node:sqlite keeps its data in /app/data/a.db (database.js)'
  assert.deepEqual(first.warnings, [{ code: 'data_without_disk', path: '/app/data', reason }])
  const log = (await logLines(api, first.id)).join('\n')
  assert.match(log, /warning: node:sqlite keeps its data in [\s\S]*berth update \S+ --disk \/app\/data/)

  assert.equal((await api.call('PATCH', `/services/${name}`, { disk_mount_path: '/app/data' })).status, 200)
  const { id } = await api.post(`/services/${name}/deploys`, {})
  assert.deepEqual((await finishedDeploy(api, id)).warnings, [])
})

test('the log of a deploy begins with what its recipe changes', async (t) => {
  const { api } = suite
  const service = await createService(t, api, nodeApp('one'))
  const same = await service.deploy(nodeApp('two'))
  assert.equal(await fetchPage(api, service.name), 'two')
  assert.ok(!(await logLines(api, same.id)).some((line) => line.includes('another Dockerfile')))

  await api.post(`/services/${service.name}/restart`)
  await api.call('PATCH', `/services/${service.name}`, { build_command: 'echo built > built.txt' })
  const { id } = await finishedDeploy(api, (await service.request()).id)

  const lines = await logLines(api, id)
  const start = lines.indexOf('the recipe gives another Dockerfile than that of the live version:')
  const end = lines.findIndex((line) => line.startsWith('there is no Dockerfile: building by recipe'))
  const changed = lines.slice(start, end).filter((line) => /^[+-]/.test(line))
  assert.ok(start >= 0 && changed.includes('+RUN echo built > built.txt'), lines.join('\n'))
  assert.ok(
    changed.every((line) => line.startsWith('+')),
    changed.join('\n'),
  )
})

test('pages are served without a server of their own, by any type that listens', async (t) => {
  const { api } = suite
  const files = { 'public/index.html': 'Hello', Staticfile: 'pushstate: enabled' }
  for (const type of ['web_service', 'static_site']) {
    const { name, first } = await createService(t, api, files, { type })
    assert.equal(first.error, null, (await logLines(api, first.id)).join('\n'))
    assert.deepEqual([await fetchPage(api, name), first.port], ['Hello', 8080])
    assert.equal(await fetchPage(api, name, '/users/1'), 'Hello')
  }
})

test('pages that a build makes are served, not the files that they are made of', async (t) => {
  const { api } = suite
  const files = {
    'package.json': manifest({ scripts: { build: 'vite build' }, devDependencies: { vite: 'file:tool' } }),
    'tool/package.json': JSON.stringify({ name: 'vite', version: '7.0.0', bin: 'vite.js' }),
    'tool/vite.js': "#!/usr/bin/env node\nrequire('node:fs').cpSync('page.html', 'dist/index.html')",
    'page.html': 'Made',
    'index.html': 'A template',
  }
  for (const type of ['web_service', 'static_site']) {
    const { name, first } = await createService(t, api, files, { type })
    assert.equal(first.error, null, (await logLines(api, first.id)).join('\n'))
    assert.equal(await fetchPage(api, name), 'Made')
  }
})

test('a service that lives by its Dockerfile gets no recipe unless it is asked for', async (t) => {
  const { api } = suite
  const { Dockerfile, ...www } = await pageApp('own')
  const service = await createService(t, api, { ...www, Containerfile: Dockerfile! })
  assert.equal(service.first.error, null)
  const missing = await api.call('GET', `/services/${service.name}/recipe`)
  assert.deepEqual(
    [missing.status, missing.body.detail],
    [404, `no version of ${service.name} was built by a recipe`],
  )

  rmSync(join(service.repository.directory, 'Containerfile'))
  const failed = await service.deploy(nodeApp('by recipe'))
  assert.equal(failed.error, 'there is no Dockerfile in the source')
  assert.match(failed.hint, new RegExp(`berth update ${service.name} --builder recipe$`))

  await api.call('PATCH', `/services/${service.name}`, { builder: 'recipe' })
  assert.equal((await finishedDeploy(api, (await service.request()).id)).error, null)
  assert.equal(await fetchPage(api, service.name), 'by recipe')
})

test('when nothing fits, the error says what was looked for and what is near', async (t) => {
  const { first } = await createService(t, suite.api, {
    'README.md': 'Nothing',
    'docker/Dockerfile': await dockerfile(),
  })

  assert.equal(first.error_code, 'recipe_not_found')
  assert.match(
    first.error,
    /^the source has no Dockerfile, and .*looked for .*package\.json.*; it has docker\/Dockerfile/,
  )
  assert.match(first.hint, /--root-dir docker --dockerfile Dockerfile/)
})

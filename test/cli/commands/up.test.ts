// `berth up` against a real daemon: from a folder to a page, and everything that can be in the way.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeTree } from '../../support/archive/write-tree.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { openFakeTerminal } from '../../support/cli/fake-terminal.ts'
import { openTcpGate } from '../../support/cli/tcp-gate.ts'
import { pageApp, until } from '../../support/daemon/service.ts'
import { createService, daemonSuite } from '../../support/daemon/suite.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const suite = daemonSuite()
let count = 0

test('a new folder becomes a service, which contains all files that are not ignored', async (t) => {
  const { folder, name } = await createApp(t, {
    'www/private.txt': 'secret',
    'www/debug.log': 'noise',
    '.gitignore': '*.log\n',
    '.berthignore': 'www/private.txt\n',
  })

  const { code, stdout, stderr } = await runBerth(t, ['up', name], { ...suite, cwd: folder })

  assert.equal(code, 0, stderr)
  const [target, ignored, ...lines] = stderr.split('\n')
  assert.equal(target, ` to ${name} on ${suite.daemon.api.url}`)
  assert.equal(ignored, '   excluded by .gitignore and .berthignore: www/debug.log, www/private.txt')
  // A step that takes longer than a second is announced before.
  const steps = lines.filter((line) => line.startsWith(' ✔'))
  assert.match(steps[0]!, /^ ✔ packing {6}5 files, \d+ B \(\.gitignore, \.berthignore\) {2}\d+(\.\d)?s$/)
  assert.match(steps[1]!, new RegExp(`^ ✔ creating {5}${name}, a web service, built by its Dockerfile`))
  assert.match(steps[2]!, /^ ✔ uploading {4}\d+ B {2}\d+(\.\d)?s$/)
  const responses = ['', 'private.txt', 'debug.log'].map((path) => fetch(`${stdout.trim()}/${path}`))
  assert.deepEqual(
    (await Promise.all(responses)).map(({ status }) => status),
    [200, 404, 404],
  )
})

test('secrets of this machine and installed packages are not uploaded, and are listed', async (t) => {
  const { folder, name } = await createApp(t, {
    '.env': 'TOKEN=1',
    'web/.env.local': 'TOKEN=2',
    '.env.production': 'TOKEN=3',
    '.env.example': 'TOKEN=',
    'node_modules/a/index.js': '',
  })

  const first = await runBerth(t, ['up', name, '--no-follow'], { ...suite, cwd: folder })
  writeTree(folder, { '.berthignore': '!.env\n!node_modules\n' })
  const second = await runBerth(t, ['up', name, '--no-follow'], { ...suite, cwd: folder })

  assert.equal(first.code, 0, first.stderr)
  const hint = '(!NAME in .berthignore includes it)'
  assert.ok(first.stderr.includes(`   excluded by default: .env, node_modules/, web/.env.local ${hint}\n`))
  const warning = 'will be in the image: use berth env for secrets'
  assert.ok(first.stderr.includes(`   ! .env.production ${warning}\n`), first.stderr)
  assert.ok(second.stderr.includes(`   excluded by default: web/.env.local ${hint}\n`), second.stderr)
  assert.ok(second.stderr.includes(`   ! .env, .env.production ${warning}\n`), second.stderr)
})

test('the name comes from berth.json, otherwise from the folder, made valid', async (t) => {
  const { folder, name } = await createApp(t)
  const unusual = join(folder, `2. Ünser Shop ${name}!`)
  writeTree(unusual, await pageApp('one'))
  writeTree(folder, { 'berth.json': JSON.stringify({ service: name }) })

  const byFile = await runBerth(t, ['up', '--no-follow', '--json'], { ...suite, cwd: folder })
  const outside = temporaryDirectory(t)
  writeTree(join(outside, `2. Ünser Shop ${name}!`), await pageApp('one'))
  const byFolder = await runBerth(t, ['up', `./2. Ünser Shop ${name}!`, '--no-follow', '--json'], {
    ...suite,
    cwd: outside,
  })

  assert.equal(await findServiceName(JSON.parse(byFile.stdout).service_id), name)
  assert.equal(await findServiceName(JSON.parse(byFolder.stdout).service_id), `unser-shop-${name}`)
})

test('at a terminal a service is created only after confirmation', async (t) => {
  const { folder, name } = await createApp(t)
  const refused = openFakeTerminal(t, ['up', name, '--no-follow'], { ...suite, cwd: folder })
  await refused.shows(`Create ${name}, a web service, built by its Dockerfile?`)
  refused.type('n')
  assert.equal(await refused.ended(), 130)
  assert.equal((await suite.api.call('GET', `/services/${name}`)).status, 404)

  const agreed = openFakeTerminal(t, ['up', name, '--no-follow'], { ...suite, cwd: folder })
  await agreed.shows(/Create .*\?/)
  agreed.type('y')

  assert.equal(await agreed.ended(), 0)
  assert.equal((await suite.api.get(`/services/${name}`)).type, 'web_service')
})

test('a folder that no recipe fits creates nothing, with the reason and what helps', async (t) => {
  const ignored = temporaryDirectory(t)
  writeTree(ignored, { 'dist/index.html': '', 'notes.txt': '', '.gitignore': 'dist\n' })
  const nested = temporaryDirectory(t)
  writeTree(nested, { 'apps/a/index.html': '', 'apps/b/index.html': '' })
  const name = newName()

  const first = await runBerth(t, ['up', name, ignored], suite)
  const second = await runBerth(t, ['up', name, nested], suite)

  assert.equal(first.code, 1)
  assert.match(
    first.stderr,
    /has no Dockerfile, and no recipe fits it\n[\s\S]*write !dist into \.berthignore/,
  )
  assert.match(second.stderr, /apps: apps\/a, apps\/b\n.*--root-dir apps\/a/)
  assert.equal((await suite.api.call('GET', `/services/${name}`)).status, 404)
})

test('a folder without a Dockerfile is built by a recipe, which is shown first', async (t) => {
  const folder = temporaryDirectory(t)
  writeTree(folder, { 'package.json': '{"scripts":{"start":"node server.js"}}', 'server.js': '' })
  const name = newName()
  const terminal = openFakeTerminal(t, ['up', name, folder], { ...suite })
  await terminal.shows(`Create ${name}, a web service, built by a recipe: Node.js?`)
  assert.match(terminal.screen().join('\n'), /npm start {2,}the start script in package\.json/)
  terminal.type('n')

  assert.equal(await terminal.ended(), 130)
  assert.equal(existsSync(join(folder, 'Dockerfile')), false)
})

test('a link that leaves the folder is refused before anything is sent', async (t) => {
  const { folder, name } = await createApp(t)
  symlinkSync('/etc/passwd', join(folder, 'passwd'))

  const { code, stderr } = await runBerth(t, ['up', name, folder], suite)

  assert.equal(code, 1)
  assert.match(stderr, /passwd is a link that leads out of the source/)
  assert.match(stderr, /\.berthignore/)
})

test('a service with a repository accepts no upload, and prints how to deploy it', async (t) => {
  const { name } = await createService(t, suite.api, null, { deploy: false })
  const { folder } = await createApp(t)

  const { code, stderr } = await runBerth(t, ['up', name, folder], suite)

  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`deployed from its repository.*\\n.*berth deploy ${name} deploys that`))
})

test("the server's reason for rejecting an upload is shown, even for a large upload", async (t) => {
  const { folder, name } = await createApp(t, { big: randomBytes(8_000_000).toString('base64') })
  await suite.api.post('/services', { name })
  await suite.api.post(`/services/${name}/suspend`)

  const { code, stderr } = await runBerth(t, ['up', name, folder], suite)

  assert.equal(code, 1)
  assert.match(stderr, /✘ .*is suspended/)
})

test('a connection that is lost during an upload deploys nothing, and prints what to do', async (t) => {
  const { folder, name } = await createApp(t, { big: randomBytes(8_000_000).toString('base64') })
  await suite.api.post('/services', { name })
  const door = await openTcpGate(t, () => suite.api.url, { limitBytes: 1_000_000 })

  const { code, stderr } = await runBerth(t, ['up', name, folder], {
    ...suite,
    env: { BERTH_SERVER: door.url },
  })

  assert.equal(code, 5)
  assert.match(
    stderr,
    new RegExp(`lost during the upload: nothing was deployed\\n.*\\n.*try again: berth up ${name}`),
  )
  assert.deepEqual(await suite.api.get(`/services/${name}/deploys`), [])
})

async function createApp(t: TestContext, more: Record<string, string> = {}) {
  const folder = temporaryDirectory(t)
  writeTree(folder, { ...(await pageApp('one')), ...more })
  return { folder, name: newName() }
}

function newName(): string {
  return `up-${process.pid}-${++count}`
}

async function findServiceName(id: string): Promise<string> {
  const { name } = await until('the service', () => suite.api.get(`/services/${id}`))
  return name
}

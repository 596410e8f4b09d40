// `berth init` and `berth recipe` in a folder, without a server.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeTree } from '../../support/archive/write-tree.ts'
import { runBerth } from '../../support/cli/berth.ts'
import { problem, startFakeServer } from '../../support/cli/fake-server.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const server = { 'package.json': '{"scripts":{"start":"node server.js"}}', 'server.js': '' }

function folderOf(t: TestContext, files: Record<string, string>): string {
  const folder = temporaryDirectory(t)
  writeTree(folder, files)
  return folder
}

test('init writes the Dockerfile once, and says why it is like this', async (t) => {
  const cwd = folderOf(t, server)

  const first = await runBerth(t, ['init'], { cwd })
  const second = await runBerth(t, ['init'], { cwd })

  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /npm start {2,}the start script in package\.json/)
  assert.match(first.stderr, /next: berth up/)
  assert.match(readFileSync(join(cwd, 'Dockerfile'), 'utf8'), /^# Node\.js[\s\S]*\nCMD \["npm", "start"\]\n$/)
  assert.match(readFileSync(join(cwd, '.dockerignore'), 'utf8'), /^\.git$/m)
  assert.equal(second.code, 1)
  assert.match(second.stderr, /has a Dockerfile already.*\n.*berth recipe --diff/)
})

test('a Containerfile is an owned Dockerfile too', async (t) => {
  const cwd = folderOf(t, { ...server, containerfile: 'FROM scratch\n' })
  const init = await runBerth(t, ['init'], { cwd })
  const diff = await runBerth(t, ['recipe', '--diff'], { cwd })

  assert.match(init.stderr, /has a Dockerfile already/)
  assert.equal(existsSync(join(cwd, 'Dockerfile')), false)
  assert.match(diff.stdout, /^-FROM scratch$/m)
})

test('a dry run prints the Dockerfile and writes nothing', async (t) => {
  const cwd = folderOf(t, server)
  const { code, stdout } = await runBerth(t, ['init', '--dry-run', '--start-command', 'node other.js'], {
    cwd,
  })
  assert.equal(code, 0)
  assert.match(stdout, /CMD \["node", "other\.js"\]\n$/)
  assert.equal(existsSync(join(cwd, 'Dockerfile')), false)
})

test('recipe --diff shows what today’s recipe would change in an owned Dockerfile', async (t) => {
  const cwd = folderOf(t, server)
  await runBerth(t, ['init'], { cwd })
  const same = await runBerth(t, ['recipe', '--diff'], { cwd })
  const path = join(cwd, 'Dockerfile')
  writeFileSync(path, readFileSync(path, 'utf8').replace('CMD ["npm", "start"]', 'CMD ["node", "server.js"]'))
  const changed = await runBerth(t, ['recipe', '--diff', '.'], { cwd })

  assert.match(same.stderr, /is what a recipe makes today/)
  assert.match(changed.stdout, /\n-CMD \["node", "server\.js"\]\n\+CMD \["npm", "start"\]\n$/)
})

test('a folder that no recipe fits is refused with what was looked for, and what is there', async (t) => {
  const cwd = folderOf(t, { 'README.md': '', 'apps/web/package.json': '{}', 'deploy/Dockerfile': '' })
  const { code, stderr } = await runBerth(t, ['recipe'], { cwd })
  assert.equal(code, 1)
  assert.match(stderr, /has no Dockerfile, and its apps are in folders of their own/)
  assert.match(
    stderr,
    /Dockerfiles in other places: deploy\/Dockerfile\n.*apps: apps\/web\n.*--root-dir apps\/web/,
  )
})

test('a source whose start is missing gets another hint than one whose language is not known', async (t) => {
  const hintFor = async (files: Record<string, string>) =>
    (await runBerth(t, ['recipe'], { cwd: folderOf(t, files) })).stderr.trim().split('\n').at(-1)?.trim()
  const manifest = { 'package.json': '{}', 'lib/a.js': '' }

  assert.equal(await hintFor(manifest), 'add a Dockerfile, or say how it starts in a Procfile (web: COMMAND)')
  assert.equal(await hintFor({ 'mix.exs': '' }), 'add a Dockerfile')
  assert.equal(await hintFor({ 'README.md': '' }), 'add a Dockerfile')
})

test('for a service, recipe prints what its newest version was built by', async (t) => {
  const server = await startFakeServer(t, ({ path }) =>
    path === '/api/v1/services/shop/recipe'
      ? { status: 200, body: JSON.stringify({ dockerfile: 'FROM a\nCMD \u001b[2Jb\n' }) }
      : problem(404, 'not_found', 'unexpected'),
  )
  const { code, stdout } = await runBerth(t, ['recipe', 'shop'], {
    env: { BERTH_SERVER: server.url, BERTH_TOKEN: 'x' },
  })
  assert.equal(code, 0)
  assert.equal(stdout, 'FROM a\nCMD b\n')
})

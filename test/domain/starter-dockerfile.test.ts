// The Dockerfile that is suggested for a project without one.
import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { suggestDockerfile } from '../../src/domain/starter-dockerfile.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

function suggest(t: TestContext, files: Record<string, string>) {
  const folder = temporaryDirectory(t)
  writeTree(folder, files)
  return suggestDockerfile(folder)
}

test('a Node.js project is installed by its lock file, and built if it has a build script', async (t) => {
  const build = '{"scripts":{"build":"vite build","start":"node server.js"}}'
  const cases: [files: Record<string, string>, copied: string, installed: string][] = [
    [{}, 'package.json', 'npm install --omit=dev'],
    [{ 'package-lock.json': '' }, 'package*.json', 'npm ci --omit=dev'],
    [{ 'yarn.lock': '' }, 'package.json yarn.lock', 'yarn install --frozen-lockfile --production'],
    [
      { 'pnpm-lock.yaml': '' },
      'package.json pnpm-lock.yaml',
      'corepack enable && pnpm install --frozen-lockfile --prod',
    ],
  ]
  for (const [files, copied, installed] of cases) {
    const { dockerfile } = await suggest(t, { 'package.json': '{}', ...files })
    assert.deepEqual(dockerfile.slice(2, 4), [`COPY ${copied} ./`, `RUN ${installed}`])
  }
  const { dockerfile } = await suggest(t, { 'package.json': build, 'package-lock.json': '' })
  assert.deepEqual(dockerfile.slice(3), [
    'RUN npm ci',
    'COPY . .',
    'RUN npm run build',
    'CMD ["npm", "start"]',
  ])
  const plain = await suggest(t, { 'package.json': '{}', 'server.js': '' })
  assert.equal(plain.dockerfile.at(-1), 'CMD ["node", "server.js"]')
})

test('the web line of a Procfile is the command for any kind of project', async (t) => {
  const Procfile = 'release: ./migrate\nweb: gunicorn app:app --bind :$PORT\nworker: celery\n'
  const python = await suggest(t, { Procfile, 'requirements.txt': '' })
  const other = await suggest(t, { Procfile, Gemfile: '' })

  for (const { dockerfile, notes } of [python, other]) {
    assert.equal(dockerfile.at(-1), 'CMD gunicorn app:app --bind :$PORT')
    assert.deepEqual(notes, ['the release line of the Procfile is a pre-deploy command: ./migrate'])
  }
})

test('a compose file is mentioned, because it is not used', async (t) => {
  const { notes } = await suggest(t, { 'docker-compose.yml': '', 'go.mod': '' })
  assert.match(notes.join(), /^docker-compose\.yml is not read: each of its services becomes a service/)
})

test('a Python project starts one of its own files', async (t) => {
  const commands = { 'app.py': 'CMD ["python", "app.py"]', 'manage.py': /runserver 0\.0\.0\.0:\$PORT$/ }
  for (const [file, command] of Object.entries(commands)) {
    const { dockerfile } = await suggest(t, { 'requirements.txt': '', [file]: '' })
    assert.match(dockerfile.at(-1)!, command instanceof RegExp ? command : /python", "app.py/)
  }
})

test('links are not followed, and a damaged or huge file counts as empty', async (t) => {
  const folder = temporaryDirectory(t)
  writeTree(folder, { secret: 'web: hush\n', 'app/package.json': '{"scripts":' })
  symlinkSync('../secret', join(folder, 'app/Procfile'))
  const linked = await suggestDockerfile(join(folder, 'app'))
  const huge = await suggest(t, { Procfile: `web: ${'x'.repeat(300_000)}`, 'go.mod': '' })

  assert.equal(linked.dockerfile.at(-1), 'CMD ["npm", "start"]')
  assert.equal(huge.dockerfile.at(-1), 'CMD ["/app"]')
})

// What is copied before the packages are installed, and what that step may know.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf, instructionsOf, recipeOf } from '../../support/recipes/recipe-of.ts'

const manifest = { scripts: { start: 'node server.js' } }
const untilInstall = (files: Record<string, string | object>) => {
  const lines = instructionsOf({ files: { 'package.json': manifest, ...files } })
  const copied = lines.slice(
    0,
    lines.findIndex((line) => /^RUN .*(npm (ci|install)|install --[\w-]+)$/.test(line)),
  )
  return copied.filter((line) => line.startsWith('COPY'))
}

test('manifests, settings of the package manager and patches are there before the install', () => {
  const files = { 'package-lock.json': '', '.npmrc': '', 'patches/a.patch': '', 'src/a.js': '' }
  assert.deepEqual(untilInstall(files), [
    'COPY package.json package-lock.json .npmrc ./',
    'COPY patches ./patches',
  ])
})

test('programs of a workspace, and what settings name, are there before the install', () => {
  const files = {
    'package.json': { ...manifest, workspaces: ['packages/*'] },
    'packages/a/package.json': { name: 'a', bin: { hello: './bin/cli.js', built: 'dist/x.js' } },
    'packages/a/bin/cli.js': '',
    'packages/a/index.js': '',
    'packages/b/package.json': { name: 'b', bin: 'b.js' },
    'packages/b/b.js': '',
    'packages/c/package.json': { name: 'c', directories: { bin: './tools' } },
    'packages/c/tools/c.js': '',
    'packages/d/package.json': { name: 'd', bin: '../../secret.js' },
    'secret.js': '',
  }
  assert.deepEqual(untilInstall(files).slice(5), [
    'COPY packages/a/bin/cli.js ./packages/a/bin/',
    'COPY packages/b/b.js ./packages/b/',
    'COPY packages/c/tools/c.js ./packages/c/tools/',
  ])
  const pnpm = {
    'pnpm-lock.yaml': '',
    'pnpm-workspace.yaml': 'pnpmfile: ./config/hooks.cjs\n',
    '.pnpmfile.mjs': '',
    'config/hooks.cjs': '',
  }
  assert.deepEqual(untilInstall(pnpm), [
    'COPY package.json pnpm-lock.yaml pnpm-workspace.yaml .pnpmfile.mjs ./',
    'COPY config/hooks.cjs ./config/',
  ])
  const yarn = {
    'yarn.lock': '',
    '.yarnrc.yml': 'plugins:\n  - path: tools/plugin.cjs\n',
    'tools/plugin.cjs': '',
  }
  assert.deepEqual(untilInstall(yarn).slice(1), ['COPY tools/plugin.cjs ./tools/'])
})

test('the patches and plugins of Yarn are there before the install, and its cache is not', () => {
  const files = {
    'yarn.lock': '__metadata:\n  version: 8\n',
    '.yarnrc.yml': '',
    '.yarn/patches/a.patch': '',
    '.yarn/cache/a.zip': '',
  }
  const lines = instructionsOf({ files: { 'package.json': manifest, ...files } })
  const copied = lines.filter((line) => /^COPY (?!--)/.test(line))
  assert.deepEqual(copied, [
    'COPY package.json yarn.lock .yarnrc.yml ./',
    'COPY .yarn/patches ./.yarn/patches',
    'COPY . .',
  ])
})

test('a script that runs at install has all files', () => {
  const scripts = { ...manifest.scripts, postinstall: 'node scripts/generate.js' }
  const files = { 'package.json': { scripts }, 'package-lock.json': '' }
  assert.deepEqual(untilInstall(files), ['COPY . .'])
  const reason = 'all files are there before the install: the postinstall script of the app'
  assert.ok(choicesOf({ files }).includes(reason))
})

test('a script that only generates the client of Prisma needs its schema', () => {
  const scripts = { ...manifest.scripts, postinstall: 'prisma generate' }
  const dependencies = { '@prisma/client': '6' }
  const files = { 'package.json': { scripts, dependencies }, 'prisma/schema.prisma': '', 'src/a.js': '' }
  assert.deepEqual(untilInstall(files), ['COPY package.json ./', 'COPY prisma ./prisma'])
})

test('what the settings of Prisma insist on is there where its client is generated, and nowhere else', () => {
  const config = "import { defineConfig, env } from 'prisma/config'\nexport default { url: env('DB_URL') }"
  const dependencies = { '@prisma/client': '7', express: '5' }
  const source = (build: string, text = config): Record<string, string | object> => ({
    'package.json': { scripts: { build, start: 'node .' }, dependencies },
    'prisma/schema.prisma': '',
    'prisma.config.ts': text,
  })
  const prefix = 'export DB_URL="${DB_URL:-postgresql://localhost/only-for-the-build}" && '
  const runs = (files: Record<string, string | object>) =>
    recipeOf({ files })
      .stages[0]?.steps.flatMap((step) => (step.do === 'run' ? [step.command] : []))
      .slice(0, 3)

  const alone = [`${prefix}npm install`, `${prefix}npx prisma generate`, 'npm run build']
  assert.deepEqual(runs(source('tsc')), alone)
  const called = [`${prefix}npm install`, `${prefix}npm run build`]
  assert.deepEqual(runs(source('prisma generate && tsc'))?.slice(0, 2), called)
  assert.equal(runs(source('tsc', ''))?.[0], 'npm install')
})

test('a script that nobody calls generates no client of Prisma', () => {
  const generated = (scripts: object) => {
    const manifest = { scripts: { start: 'node a.js', ...scripts }, dependencies: { '@prisma/client': '7' } }
    const lines = instructionsOf({ files: { 'package.json': manifest, 'prisma/schema.prisma': '' } })
    return lines.includes('RUN npx prisma generate')
  }
  assert.ok(generated({ 'db:generate': 'prisma generate' }))
  assert.ok(!generated({ postinstall: 'npm run db', db: 'prisma generate' }))
  assert.ok(!generated({ prebuild: 'prisma generate', build: 'tsc' }))
})

test('a schema of Prisma in another package of the workspace is there too', () => {
  const files = {
    'package.json': { ...manifest, workspaces: ['packages/*'] },
    'packages/db/package.json': { name: 'db', scripts: { postinstall: 'prisma generate' } },
    'packages/db/prisma/schema.prisma': '',
  }
  assert.deepEqual(untilInstall(files), [
    'COPY package.json ./',
    'COPY packages/db/prisma ./packages/db/prisma',
    'COPY packages/db/package.json ./packages/db/',
  ])
})

test('a package that is a folder of the source needs all files', () => {
  const files = { 'package.json': { ...manifest, dependencies: { local: 'file:./local' } } }
  assert.deepEqual(untilInstall(files), ['COPY . .'])
})

test('the token that a registry needs is a secret of the install', () => {
  const npmrc = '//registry.npmjs.org/:_authToken=${NPM_TOKEN}\ncache=${HOME}/.npm\n'
  const files = { 'package.json': manifest, 'package-lock.json': '', '.npmrc': npmrc }
  const steps = recipeOf({ files }).stages.flatMap((stage) => stage.steps)
  const secrets = steps.flatMap((step) => (step.do === 'run' && step.secrets.length > 0 ? [step] : []))
  assert.deepEqual(
    secrets.map(({ command, secrets }) => [command, secrets]),
    [['npm ci', ['NPM_TOKEN']]],
  )
})

// How an app of JavaScript starts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readManifest } from '../../../src/recipes/languages/node/manifest.ts'
import { findDevelopmentServer, findNeeded } from '../../../src/recipes/languages/node/start.ts'
import { treeOf } from '../../../src/recipes/tree.ts'
import { choicesOf, instructionsOf, recipeOf, refusalOf } from '../../support/recipes/recipe-of.ts'

const manifestOf = (manifest: object) => readManifest(treeOf({ 'package.json': JSON.stringify(manifest) }))
const last = (files: Record<string, string | object>) => instructionsOf({ files }).at(-1)

test('a start script that runs a development server is recognized', () => {
  const scripts = { develop: 'gatsby develop', loop: 'npm run loop' }
  const manifest = manifestOf({ scripts })
  const development = [
    'vite',
    'vite --host',
    'vite start',
    'cross-env A=1 vite preview',
    'react-scripts start',
    'serve -s build',
    'npm run develop',
    'tsc && nest start',
  ]
  const production = [
    'vite build',
    'next start',
    'node server.js',
    'npm run loop',
    'remix-serve build',
    'tsx a.ts',
  ]
  assert.deepEqual(
    development.filter((script) => findDevelopmentServer(manifest, script) === null),
    [],
  )
  assert.deepEqual(
    production.filter((script) => findDevelopmentServer(manifest, script) !== null),
    [],
  )
})

test('packages for development stay if the start command may need one of them', () => {
  const manifest = manifestOf({
    scripts: { serve: 'tsx src/a.ts' },
    dependencies: { express: '5', '@remix-run/serve': '2', next: '15', 'ts-node': '10' },
    devDependencies: { '@types/node': '22', tsx: '4', dotenv: '16', 'npm-run-all': '4', 'cross-env': '7' },
  })
  const starts = ['node -r dotenv/config a.js', 'npm run serve', 'run-s a b', 'cross-env A=1 node a.js']
  const needed = starts.map((one) => findNeeded(manifest, one))
  const free = ['node a.js', 'remix-serve build', 'next start', 'NODE_ENV=production node .', 'ts-node a']
  assert.deepEqual(needed, ['dotenv', 'tsx', 'run-s', 'cross-env'])
  assert.deepEqual(
    free.filter((one) => findNeeded(manifest, one) !== null),
    [],
  )
})

test('what Next.js reads its settings with at the start stays', () => {
  const choices = (next: string, files: object, more: object = {}) =>
    choicesOf({
      files: {
        'package.json': {
          scripts: { build: 'next build', start: 'next start' },
          dependencies: { next },
          devDependencies: { typescript: '5', '@next/bundle-analyzer': '15' },
          ...more,
        },
        ...files,
      },
    }).filter((line) => line.startsWith('packages for'))
  const typescript = { 'next.config.ts': "import type { NextConfig } from 'next'\nexport default {}" }
  const stays = [
    'packages for development stay: Next.js before 16.2 reads next.config.ts with typescript when it starts',
  ]
  for (const lock of ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'])
    assert.deepEqual(choices('15.5.6', { ...typescript, [lock]: '' }), stays, lock)
  for (const next of ['^14.2.0', '15.6.0-canary.40', 'catalog:'])
    assert.deepEqual(choices(next, typescript), stays)
  assert.deepEqual(choices('16.4.6', typescript), [])
  assert.deepEqual(choices('15.5.6', { 'next.config.mjs': '' }), [])
  assert.deepEqual(choices('15.5.6', { 'next.config.ts': "export default { output: 'standalone' }" }), [])
  const dependencies = { next: '15.5.6', typescript: '5' }
  assert.deepEqual(choices('15.5.6', typescript, { dependencies }), [])
  assert.deepEqual(choices('16.4.6', { 'next.config.mjs': "import analyze from '@next/bundle-analyzer'" }), [
    'packages for development stay: ' +
      'next.config.mjs imports @next/bundle-analyzer, and Next.js reads it when it starts',
  ])
})

test('an app without a start script starts with its main file', () => {
  assert.equal(
    last({ 'package.json': { main: './lib/http.js' }, 'lib/http.js': '' }),
    'CMD ["node", "lib/http.js"]',
  )
  assert.equal(last({ 'package.json': {}, 'index.js': '', 'other.js': '' }), 'CMD ["node", "index.js"]')
  assert.equal(last({ 'package.json': {}, 'api.mjs': '' }), 'CMD ["node", "api.mjs"]')
})

test('Node.js runs TypeScript since 22.18', () => {
  const files = (node: string) => ({ 'package.json': { engines: { node } }, 'index.ts': '' })
  assert.equal(last(files('22')), 'CMD ["node", "index.ts"]')
  const { problem } = refusalOf({ files: files('20') })
  assert.equal(problem, 'package.json has no start script and no known framework')
})

test('a development server of no known framework is refused by its name', () => {
  const files = { 'package.json': { scripts: { start: 'webpack serve' } } }
  const { problem } = refusalOf({ files })
  assert.match(problem, /development server \(webpack serve\)/)
})

test('the web line of the Procfile wins over the start script, and finds programs of packages', () => {
  const files = {
    'package.json': { scripts: { start: 'node a.js' } },
    Procfile: 'web: next start -p $PORT\n',
  }
  const lines = instructionsOf({ files })
  assert.equal(lines.at(-1), 'CMD ["sh", "-c", "exec next start -p $PORT"]')
  assert.ok(lines.includes('ENV NODE_ENV=production PATH="/app/node_modules/.bin:$PATH"'))
})

test('the port that the start script names is the port', () => {
  const portOf = (start: string) => recipeOf({ files: { 'package.json': { scripts: { start } } } }).port
  assert.equal(portOf('next start -p 4000'), 4000)
  assert.equal(portOf('serve public -l 5000'), 5000)
})

test('a worker listens on no port', () => {
  const files = { 'package.json': { scripts: { start: 'node worker.js' } } }
  assert.equal(recipeOf({ files, settings: { type: 'background_worker' } }).port, null)
})

test('a package manager that the start script calls is where it runs', () => {
  const files = {
    'package.json': { scripts: { start: 'pnpm run serve' }, packageManager: 'pnpm@10.1.0' },
    'pnpm-lock.yaml': '',
  }
  const installs = instructionsOf({ files }).filter((line) => line.endsWith('--global pnpm@10.1.0'))
  assert.equal(installs.length, 2)
})

test('a start script of Bun runs on the image of Bun', () => {
  const manifest = { scripts: { start: 'NODE_ENV=production bun src/index.ts' }, engines: { bun: '1.2.3' } }
  const lines = instructionsOf({ files: { 'package.json': manifest, 'bun.lock': '' } })
  assert.deepEqual(
    lines.filter((line) => /^(FROM|CMD)/.test(line)),
    ['FROM oven/bun:1.2.3 AS build', 'FROM oven/bun:1.2.3-slim AS app', 'CMD ["bun", "run", "start"]'],
  )
})

test('migrations are proposed, and what runs them stays', () => {
  const manifest = {
    scripts: { start: 'node a.js' },
    dependencies: { '@prisma/client': '6' },
    devDependencies: { prisma: '6' },
  }
  const files = {
    'package.json': manifest,
    'prisma/schema.prisma': '',
    'prisma/migrations/1_a/migration.sql': '',
  }
  const [proposal] = recipeOf({ files }).proposals
  assert.equal(proposal?.value, 'npx prisma migrate deploy')
  assert.ok(choicesOf({ files }).includes('packages for development stay: prisma is one, for migrations'))
  assert.ok(!instructionsOf({ files }).some((line) => line.includes('migrate deploy')))
})

test('what Prisma generated stays, if the package manager would remove it', () => {
  const manifest = {
    scripts: { start: 'node a.js' },
    dependencies: { '@prisma/client': '6' },
    devDependencies: { typescript: '5' },
  }
  const pruned = (files: Record<string, string>) =>
    instructionsOf({ files: { 'package.json': manifest, ...files } }).filter((line) =>
      /prune|production$/.test(line),
    )
  assert.deepEqual(pruned({ 'pnpm-lock.yaml': '' }), [])
  assert.deepEqual(pruned({ 'package-lock.json': '' }), ['RUN npm prune --omit=dev --ignore-scripts'])
})

test('an app that drives a browser gets that of Debian', () => {
  const files = { 'package.json': { main: 'a.js', dependencies: { puppeteer: '24' } }, 'a.js': '' }
  const lines = instructionsOf({ files })
  assert.ok(lines.some((line) => /apt-get install .*\bchromium\b/.test(line)))
  assert.ok(lines.some((line) => line.includes('PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium')))
})

test('scripts that call each other many times are read once', () => {
  const again = (name: string) => `npm run ${name};`.repeat(5_000)
  const manifest = manifestOf({ scripts: { a: again('b'), b: again('c'), c: `${again('a')} vite` } })
  assert.equal(findDevelopmentServer(manifest, 'npm run a'), 'vite')
})

test('a build that installs packages itself gets those for development', () => {
  const environmentOf = (command: string) => {
    const files = { 'package.json': { scripts: { start: 'node a.js', setup: 'npm ci' } } }
    const lines = instructionsOf({ files, settings: { build_command: command } })
    return lines.slice(0, lines.indexOf('FROM node:24-slim AS app')).filter((line) => line.startsWith('ENV'))
  }
  assert.deepEqual(environmentOf('npm run build'), ['ENV NODE_ENV=production'])
  assert.ok(environmentOf('npm install && npm run build').every((line) => !line.includes('NODE_ENV')))
  assert.ok(environmentOf('npm run setup').every((line) => !line.includes('NODE_ENV')))
})

test('the script that Heroku runs instead of the build script builds here too', () => {
  const scripts = { start: 'node a.js', build: 'tsc', 'heroku-postbuild': 'npm install --prefix web' }
  const choices = choicesOf({ files: { 'package.json': { scripts } } })
  const reason = 'the heroku-postbuild script in package.json'
  assert.ok(choices.includes(`npm run heroku-postbuild: ${reason}`))
})

test('a server of pages is enough for an app without a framework', () => {
  assert.equal(last({ 'package.json': { scripts: { start: 'serve public' } } }), 'CMD ["npm", "start"]')
})

test('a worker in an app whose framework makes pages is no site', () => {
  const files = { 'package.json': { dependencies: { vite: '7' } }, 'index.html': '', 'server.js': '' }
  assert.equal(recipeOf({ files, settings: { type: 'background_worker' } }).site, null)
})

test('a main file in TypeScript is started by tsx, if that is installed', () => {
  const files = { 'index.ts': '', 'package.json': { devDependencies: { tsx: '4' }, engines: { node: '20' } } }
  const lines = instructionsOf({ files })
  assert.ok(lines.includes('CMD ["tsx", "index.ts"]'))
  assert.ok(lines.every((line) => !line.includes('prune')))
  assert.ok(lines.some((line) => line.includes('/app/node_modules/.bin:$PATH')))
})

test('what a server cannot start is refused with the reason, even next to a main file', () => {
  const problem = (start: string, files: object = { 'index.js': '' }) =>
    refusalOf({ files: { 'package.json': { main: 'index.js', scripts: { start } }, ...files } }).problem
  assert.match(problem('wrangler dev'), /^the start script in package\.json \(wrangler dev\) .*Cloudflare/)
  assert.match(problem('electron .'), /Electron/)
  assert.match(problem('pm2 start ecosystem.config.cjs', {}), /goes on in the background/)
  assert.equal(
    last({ 'package.json': { scripts: { start: 'pm2 start server.js' } }, 'server.js': '' }),
    'CMD ["node", "server.js"]',
  )
})

test('folders that are apps are listed if the top is none', () => {
  const app = { scripts: { start: 'node index.js' } }
  const files = {
    'package.json': { scripts: { dev: 'concurrently "npm run server" "npm run client"' } },
    'server/package.json': app,
    'client/package.json': app,
    'examples/a/package.json': app,
  }
  assert.deepEqual(refusalOf({ files }).apps, ['client', 'server'])
})

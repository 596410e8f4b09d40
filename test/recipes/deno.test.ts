// Deno by a recipe.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instructionsOf, recipeOf, refusalOf } from '../support/recipes/recipe-of.ts'

test('an app of Deno without a start task runs its main file with few permissions', () => {
  const files = { 'deno.json': { imports: {} }, 'deno.lock': '', 'main.ts': '' }
  assert.deepEqual(instructionsOf({ files }), [
    'FROM denoland/deno:2 AS build',
    'WORKDIR /app',
    'ENV DENO_DIR=/app/.deno',
    'COPY deno.json deno.lock ./',
    'RUN deno install',
    'COPY . .',
    'RUN deno cache main.ts',
    'FROM denoland/deno:2 AS app',
    'ENV DENO_DIR=/app/.deno DENO_NO_UPDATE_CHECK=1',
    'COPY --from=build --chown=1000:1000 /app /app',
    'WORKDIR /app',
    'ENV PORT=8000',
    'EXPOSE 8000',
    'USER 1000:1000',
    'CMD ["deno", "run", "--allow-net", "--allow-env", "--allow-read", "main.ts"]',
  ])
})

test('the tasks of Deno build and start an app, and what the task imports is fetched', () => {
  const tasks = { build: 'deno run -A dev.ts build', start: 'deno run -A ./src/web.tsx' }
  const lines = instructionsOf({ files: { 'deno.jsonc': { tasks }, 'src/web.tsx': '', 'main.ts': '' } })
  assert.ok(lines.includes('RUN deno cache src/web.tsx'))
  assert.ok(lines.includes('RUN deno task build'))
  assert.equal(lines.at(-1), 'CMD ["deno", "task", "start"]')
})

test('a start task that watches is started without, and with the main file of Fresh', () => {
  const tasks = { start: 'deno run -A --watch=static/,routes/ --env dev.ts' }
  const lines = instructionsOf({ files: { 'deno.json': { tasks }, 'dev.ts': '', 'main.ts': '' } })
  assert.ok(lines.includes('RUN deno cache main.ts'))
  assert.equal(lines.at(-1), 'CMD ["deno", "run", "-A", "--env", "main.ts"]')
})

test('an import map in a file of its own is there before packages are installed', () => {
  const lines = instructionsOf({ files: { 'deno.json': { importMap: './map.json' }, 'main.ts': '' } })
  assert.equal(lines[lines.indexOf('RUN deno install') - 1], 'COPY . ./')
})

test('pages that a task of Deno builds are a site', () => {
  const files = { 'deno.json': { tasks: { build: 'lume' } } }
  const recipe = recipeOf({ files, settings: { type: 'static_site', publish_dir: '_site' } })
  assert.deepEqual(recipe.site, { folder: '/site', fallback: false })
})

test('deno.json without a start is refused', () => {
  assert.match(refusalOf({ files: { 'deno.json': {} } }).problem, /no start task/)
})

test('a deno.json next to a lock file of npm configures an editor', () => {
  const files = { 'deno.json': {}, 'package.json': { main: 'a.js' }, 'a.js': '', 'package-lock.json': '' }
  assert.equal(recipeOf({ files }).title, 'Node.js')
})

// A recipe as a Dockerfile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRecipe, isRefusal, printDockerfile } from '../../src/recipes/index.ts'
import { treeOf } from '../../src/recipes/tree.ts'

function recipeOf(texts: Record<string, string>) {
  const tree = treeOf(texts)
  const recipe = chooseRecipe({ top: tree, app: tree, rootDir: '' })
  if (isRefusal(recipe)) assert.fail(recipe.problem)
  return recipe
}

const server = {
  'package.json': '{"engines":{"node":"22.x"},"scripts":{"start":"node server.js"}}',
  'package-lock.json': '',
}

test('a Dockerfile says what was chosen and why, and has no syntax line', () => {
  const text = printDockerfile(recipeOf(server))
  assert.equal(
    text,
    `# Node.js, by recipe 1 of Berth.
# node 22: engines.node "22.x" in package.json
# npm: package-lock.json
# npm start: the start script in package.json

FROM node:22 AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm,sharing=locked npm ci
COPY . .

FROM node:22-slim AS app
ENV NODE_ENV=production NPM_CONFIG_UPDATE_NOTIFIER=false
COPY --from=build --chown=1000:1000 /app /app
WORKDIR /app
LABEL org.opencontainers.image.base.name="node:22-slim"
ENV PORT=3000
EXPOSE 3000
USER 1000:1000
CMD ["npm", "start"]
`,
  )
})

test('without mounts, steps have no caches', () => {
  const text = printDockerfile(recipeOf(server), { mounts: false })
  assert.doesNotMatch(text, /--mount/)
  assert.match(text, /^RUN npm ci$/m)
})

test('a text of the source cannot begin a line of its own', () => {
  const lines = (start: string) => {
    const manifest = JSON.stringify({ engines: { node: '>=22\nUSER root' }, scripts: { start } })
    return printDockerfile(recipeOf({ 'package.json': manifest, Procfile: `web: ${start}` })).split('\n')
  }
  assert.ok(lines('node a.js\u2028USER root').every((line) => !line.startsWith('USER root')))
})

test('a command of several lines stays one step', () => {
  const tree = treeOf(server)
  const recipe = chooseRecipe(
    { top: tree, app: tree, rootDir: '' },
    { build_command: 'npm run a\nnpm run b \\' },
  )
  assert.ok(!isRefusal(recipe))
  assert.match(printDockerfile(recipe), /^RUN .*\["sh","-c","npm run a\\nnpm run b \\\\"\]$/m)
})

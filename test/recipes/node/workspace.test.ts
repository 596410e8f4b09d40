// Apps in workspaces: which one it is, and what is built before it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf, instructionsOf, recipeOf, refusalOf } from '../../support/recipes/recipe-of.ts'

type Files = Record<string, string | object>

const library = { name: '@team/ui', scripts: { build: 'tsc' }, devDependencies: { typescript: '5' } }
const web = {
  name: 'web',
  scripts: { build: 'tsc', start: 'node dist/server.js' },
  dependencies: { '@team/ui': '*' },
}
const workspace: Files = {
  'package.json': { private: true, workspaces: ['apps/*', './packages/*', '!packages/old'] },
  'package-lock.json': '',
  'apps/web/package.json': web,
  'packages/ui/package.json': library,
  'packages/old/package.json': { name: 'old' },
}
const pnpm: Files = {
  ...workspace,
  'package.json': { private: true },
  'pnpm-workspace.yaml': "packages:\n  # all\n  - 'apps/*'\n  - packages/ui\ncatalog:\n  react: 19\n",
  'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
}
const commands = (files: Files, rootDir: string) =>
  instructionsOf({ files, rootDir }).flatMap((line) => (line.startsWith('RUN ') ? [line.slice(4)] : []))

test('the packages of a workspace are installed at its top, from the manifests of all', () => {
  const source = { files: workspace, rootDir: 'apps/web' }
  const lines = instructionsOf(source)
  assert.equal(recipeOf(source).context, '')
  assert.deepEqual(
    lines.filter((line) => /^COPY (?!--)/.test(line)),
    [
      'COPY package.json package-lock.json ./',
      'COPY apps/web/package.json ./apps/web/',
      'COPY packages/ui/package.json ./packages/ui/',
      'COPY . .',
    ],
  )
  assert.ok(lines.includes('WORKDIR /app/apps/web'))
  assert.equal(lines.at(-1), 'CMD ["npm", "start"]')
})

test('the only package that can start is the app', () => {
  assert.equal(choicesOf({ files: workspace })[0], 'the app is apps/web: a package of the workspace')
})

test('of several packages that can start, none is guessed', () => {
  const files = { ...workspace, 'apps/api/package.json': { ...web, name: 'api' } }
  const { problem, apps } = refusalOf({ files })
  assert.equal(problem, 'several folders of it are apps')
  assert.deepEqual(apps, ['apps/api', 'apps/web'])
})

test('a package of a workspace is not guessed either if an app of another language is next to it', () => {
  const files = { ...workspace, 'backend/pyproject.toml': '' }
  assert.deepEqual(refusalOf({ files }).apps, ['apps/web', 'backend'])
})

test('the root of a workspace that starts all of its packages is not an app', () => {
  const top = {
    workspaces: ['apps/*'],
    scripts: { start: 'turbo run start' },
    devDependencies: { turbo: '2' },
  }
  const files = { ...workspace, 'package.json': top, 'apps/api/package.json': { ...web, name: 'api' } }
  assert.deepEqual(refusalOf({ files }).apps, ['apps/api', 'apps/web'])
})

test('a top that starts is the app', () => {
  const top = { workspaces: ['apps/*'], scripts: { start: 'node apps/web/server.js' } }
  const files = { ...workspace, 'package.json': top, 'apps/api/package.json': web }
  assert.ok(instructionsOf({ files }).includes('WORKDIR /app'))
  assert.ok(!choicesOf({ files }).some((line) => line.startsWith('the app is')))
})

test('a workspace below the top of the source is the context', () => {
  const files = Object.fromEntries(Object.entries(workspace).map(([path, text]) => [`js/${path}`, text]))
  assert.equal(recipeOf({ files, rootDir: 'js/apps/web' }).context, 'js')
})

test('a folder that is no package of the workspace is an app of its own', () => {
  const files = { ...workspace, 'tools/x/package.json': web }
  assert.equal(recipeOf({ files, rootDir: 'tools/x' }).context, 'tools/x')
})

const builds: { tool: string; files: Files; runs: string[] }[] = [
  {
    tool: 'npm',
    files: workspace,
    runs: [
      'npm ci',
      'npm run build --workspace=packages/ui && npm run build --workspace=apps/web',
      'npm prune --omit=dev --ignore-scripts',
    ],
  },
  {
    tool: 'pnpm',
    files: pnpm,
    runs: [
      'npm install --global pnpm@10',
      'pnpm install --frozen-lockfile',
      'pnpm --dir packages/ui run build && pnpm --dir apps/web run build',
      'CI=true pnpm install --prod --ignore-scripts --offline --config.modules-cache-max-age=0',
    ],
  },
  {
    tool: 'turbo',
    files: {
      ...pnpm,
      'turbo.json': '{}',
      'package.json': { devDependencies: { turbo: '2' }, packageManager: 'pnpm@9.1.0' },
    },
    runs: [
      'npm install --global pnpm@9.1.0',
      'pnpm install --frozen-lockfile',
      'npx turbo run build --filter=./apps/web',
      'CI=true pnpm install --prod --ignore-scripts --offline --config.modules-cache-max-age=0',
    ],
  },
  {
    tool: 'nx',
    files: {
      ...workspace,
      'nx.json': '{}',
      'package.json': { workspaces: ['apps/*', 'packages/ui'], devDependencies: { nx: '22' } },
    },
    runs: ['npm ci', 'NX_DAEMON=false npx nx run web:build', 'npm prune --omit=dev --ignore-scripts'],
  },
  {
    tool: 'yarn',
    files: { ...workspace, 'package-lock.json': '', 'yarn.lock': '__metadata:\n  version: 8\n' },
    runs: [
      'npm install --global --force @yarnpkg/cli-dist@4',
      'yarn install --immutable',
      'yarn --cwd packages/ui run build && yarn --cwd apps/web run build',
      'yarn workspaces focus --all --production',
    ],
  },
]

for (const { tool, files, runs } of builds) {
  test(`with ${tool}, what an app needs is built before it`, () => {
    assert.deepEqual(commands(files, 'apps/web'), runs)
  })
}

test('a framework in a workspace is built and started in its folder', () => {
  const files = { ...workspace, 'apps/web/package.json': { name: 'web', dependencies: { next: '15' } } }
  const lines = instructionsOf({ files, rootDir: 'apps/web' })
  assert.ok(lines.includes('RUN cd apps/web && npx next build'))
  assert.ok(
    lines.some((line) =>
      line.includes('PATH="/app/apps/web/node_modules/.bin:/app/node_modules/.bin:$PATH"'),
    ),
  )
  assert.equal(lines.at(-1), 'CMD ["next", "start"]')
})

test('a standalone server of Next.js keeps its place in the workspace', () => {
  const files = {
    ...workspace,
    'apps/web/package.json': { name: 'web', dependencies: { next: '15' } },
    'apps/web/next.config.js': "module.exports = { output: 'standalone' }",
    'apps/web/public/a.txt': '',
  }
  assert.deepEqual(instructionsOf({ files, rootDir: 'apps/web' }).slice(-9), [
    'ENV NODE_ENV=production HOSTNAME=0.0.0.0',
    'COPY --from=build --chown=1000:1000 /app/apps/web/.next/standalone /app',
    'COPY --from=build --chown=1000:1000 /app/apps/web/.next/static /app/apps/web/.next/static',
    'COPY --from=build --chown=1000:1000 /app/apps/web/public /app/apps/web/public',
    'WORKDIR /app',
    'ENV PORT=3000',
    'EXPOSE 3000',
    'USER 1000:1000',
    'CMD ["node", "apps/web/server.js"]',
  ])
})

test('apps that are only projects of Nx are refused with the commands that build and start one', () => {
  const files = {
    'package.json': { devDependencies: { nx: '22' } },
    'nx.json': '{}',
    'apps/api-e2e/project.json': { name: 'api-e2e', projectType: 'application' },
    'apps/api/project.json': {
      name: 'api',
      projectType: 'application',
      targets: { build: { executor: '@nx/webpack:webpack', options: { outputPath: 'dist/api' } } },
    },
  }
  assert.equal(
    refusalOf({ files }).problem,
    'its apps are projects of Nx: build_command must be as "npx nx build api", and start_command ' +
      'what is at its outputPath, as in "node dist/main.js", or publish_dir its pages',
  )
  const settings = { build_command: 'npx nx build api', start_command: 'node dist/api/main.js' }
  const lines = instructionsOf({ files, settings })
  assert.ok(lines.includes('RUN npx nx build api') && lines.includes('CMD ["node", "dist/api/main.js"]'))
})

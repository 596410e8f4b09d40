// What a recipe gives the builder of the engine, and what it keeps of the answer.
import assert from 'node:assert/strict'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BuildJob } from '../../../src/builders/builder.ts'
import { recipe } from '../../../src/builders/recipe/recipe.ts'
import type { BuildRequest } from '../../../src/docker/build/build.ts'
import type { Engine } from '../../../src/docker/engine/client.ts'
import type { Owner } from '../../../src/docker/engine/names.ts'
import { Failure } from '../../../src/errors.ts'
import type { ReleaseRecipe } from '../../../storage/releases.ts'
import type { ServiceSettings } from '../../../storage/services.ts'
import { writeTree } from '../../support/archive/write-tree.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { silentLogger } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const digest = `sha256:${'ab'.repeat(32)}`
const app = { 'package.json': '{"engines":{"node":"22"}}', 'server.js': '' }

interface Attempt {
  settings?: Partial<ServiceSettings>
  env?: Record<string, string>
  mounts?: boolean
  failure?: Failure
}

async function build(t: TestContext, files: Record<string, string>, attempt: Attempt = {}) {
  const { settings = {}, env = {}, mounts = true, failure } = attempt
  const directory = realpathSync(temporaryDirectory(t))
  const checkout = join(directory, 'source')
  writeTree(checkout, files)
  const lines: string[] = []
  const kept: ReleaseRecipe[] = []
  let request: BuildRequest | null = null
  let dockerfile = ''
  const secrets = Object.entries(env).map(([key, value]) => ({ key, value }))
  const job = standIn<BuildJob>({
    serviceName: 'shop',
    settings: serviceRow(settings),
    envKeys: Object.keys(env),
    live: null,
    directory,
    checkout,
    image: { tag: 'shop:1', labels: {} },
    tree: { tag: 'shop:1-tree', labels: {} },
    engine: {} as Engine,
    owner: {} as Owner,
    logger: silentLogger,
    openInputs: async () => ({
      secrets,
      target: 'theirs',
      buildArgs: { OWN: '1' },
      noCache: false,
      cacheNamespace: 'svc-1',
    }),
    keepRecipe: async (made) => void kept.push(structuredClone(made) as ReleaseRecipe),
    log: { info: (line) => void lines.push(line), build: () => undefined },
    driver: {
      mounts,
      async build(given) {
        request = given as BuildRequest
        dockerfile = readFileSync(join(request.contextDir, request.dockerfile), 'utf8')
        for (const name of [`[app 1/2] FROM docker.io/library/node:22-slim@${digest}`, '[app 2/2] RUN make'])
          request.onLine('system', name, { number: 1, state: 'started', name })
        if (failure) throw failure
        return { imageId: 'sha256:1' }
      },
    },
  }) as BuildJob
  const error = await recipe.build(job).then(
    () => null,
    (failure: unknown) => failure,
  )
  return { request: request as BuildRequest | null, dockerfile, kept, lines, checkout, error }
}

test('the printed Dockerfile is built outside of the source, with its own ignore rules', async (t) => {
  const { request, dockerfile, kept, checkout } = await build(t, {
    ...app,
    '.dockerignore': '# no\n\ndrafts\n',
  })

  assert.equal(request!.contextDir, checkout)
  assert.equal(dockerfile, kept[0]!.dockerfile)
  assert.equal(request!.target, null, 'a stage of a Dockerfile of the user means nothing here')
  assert.ok(['.git', '**/node_modules', 'drafts'].every((line) => request!.ignore!.includes(line)))
  assert.ok(!request!.ignore!.some((line) => line.startsWith('#') || line === ''))
})

test('the build command gets the arguments of the service, and the install does not', async (t) => {
  const files = { ...app, 'package.json': '{"scripts":{"build":"make","start":"node server.js"}}' }
  const settings = { build_env: ['DATABASE_URL'], build_args: { TIER: 'gold' } }

  const { dockerfile, error } = await build(t, files, { settings })

  assert.equal(error, null)
  const steps = ['COPY . .', 'ARG DATABASE_URL', 'ARG TIER', 'ENV NODE_ENV=production', 'RUN npm run build']
  assert.ok(dockerfile.includes(`npm install\n${steps.join('\n')}\n`), dockerfile)
  assert.equal(dockerfile.match(/ARG/g)!.length, 2)
})

test('a folder of pages that the build does not make is no error of a Dockerfile', async (t) => {
  const files = { 'package.json': '{"scripts":{"build":"make"}}' }
  const facts = { step: 'COPY --from=build /app/dist /site', missing_path: 'app/dist', missing_from: 'build' }
  const failure = new Failure('build_failed', 'COPY: there is no app/dist').with(facts)
  const settings = { type: 'static_site', publish_dir: 'dist' } as const

  const { error } = await build(t, files, { settings, failure })

  assert.equal((error as Failure).code, 'site_not_found')
  assert.match((error as Failure).message, /^the build leaves no \/app\/dist; the publish dir is/)
})

test('an app of a workspace is built with all of the workspace', async (t) => {
  const files = {
    'go.work': 'use ./web',
    'web/go.mod': 'module web\n\ngo 1.25\n',
    'web/main.go': 'package main\nfunc main() {}\n',
  }
  const { request, checkout, error } = await build(t, files, { settings: { root_dir: 'web' } })

  assert.equal(error, null)
  assert.equal(request!.contextDir, checkout)
})

test('variables that the recipe declares become build arguments, and no others', async (t) => {
  const files = {
    ...app,
    'package.json': '{"scripts":{"start":"vite preview","build":"vite build"},"dependencies":{"vite":"7"}}',
  }
  const { request, dockerfile } = await build(t, files, { env: { VITE_API: '/api', PASSWORD: 'x' } })

  assert.match(dockerfile, /^ARG VITE_API$/m)
  assert.deepEqual(request!.buildArgs, { VITE_API: '/api', OWN: '1' })
})

test('digests of base images are logged once, and kept', async (t) => {
  const { kept, lines } = await build(t, app)

  assert.deepEqual(
    kept.map(({ base_images }) => base_images),
    [{}, { 'node:22-slim': digest }],
  )
  assert.deepEqual(
    lines.filter((line) => line.includes(digest)),
    [`node:22-slim is ${digest}`],
  )
})

test('a builder that knows no mounts gets none', async (t) => {
  assert.match((await build(t, app)).dockerfile, /--mount=type=cache/)
  assert.doesNotMatch((await build(t, app, { mounts: false })).dockerfile, /--mount/)
})

test('the settings of the service win over what the source says', async (t) => {
  const settings = { root_dir: 'web', build_command: 'make all', start_command: 'node own.js' }
  const { dockerfile, lines } = await build(t, { 'web/package.json': '{}', 'web/main.js': '' }, { settings })

  assert.match(dockerfile, /^RUN make all$/m)
  assert.match(dockerfile, /^CMD \["node", "own\.js"\]$/m)
  assert.ok(lines.includes('make all: build_command of the service'), lines.join('\n'))
})

test('a folder of apps is refused with their names, a missing root dir as everywhere', async (t) => {
  const files = { 'apps/web/package.json': '{}', 'apps/api/package.json': '{}', 'old/Dockerfile': '' }
  const refused = await build(t, files)
  const { message, facts } = refused.error as { message: string; facts: object }

  assert.match(message, /^the source has no Dockerfile, and /)
  assert.match(message, /; it has old\/Dockerfile; folders that are apps: apps\/api, apps\/web$/)
  assert.deepEqual(facts, { dockerfile: 'old/Dockerfile', app: 'apps/api' })
  assert.equal(refused.request, null)
  const outside = await build(t, files, { settings: { root_dir: 'gone' } })
  assert.equal((outside.error as Error).message, 'the root dir gone is not in the source')
})

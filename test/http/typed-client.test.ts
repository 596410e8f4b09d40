// A client that knows only our OpenAPI document: its types are generated, checked by the compiler, and used.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startApi, token } from '../support/http/http-context.ts'
import { typedPaths } from '../support/http/typed-client.ts'

const flow = `
import createClient from 'openapi-fetch'
import type { Deploy, paths } from './paths.ts'

export async function flow(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })
  const created = await client.POST('/api/v1/services', {
    body: { name: 'web', type: 'web_service', repo_url: 'https://git.test/a/b' },
  })
  if (!created.data) throw new Error(created.error.detail)
  const id: string = created.data.id
  const listed = await client.GET('/api/v1/services')
  const names: string[] = listed.data?.map(({ name }) => name) ?? []
  const deploys = await client.GET('/api/v1/services/{id}/deploys', {
    params: { path: { id }, query: { limit: 1, include: 'phases' } },
  })
  const deploy: Deploy | undefined = deploys.data?.[0]
  const unknown = await client.GET('/api/v1/services/{id}', { params: { path: { id: 'unknown' } } })
  const code: string | undefined = unknown.error?.code
  return { names, status: deploy?.status, phase: deploy?.phases?.[0]?.phase, code }
}
`

/** Each line of a call is refused: a path, a missing parameter, a value, an unknown parameter. */
const wrong = `
import createClient from 'openapi-fetch'
import type { paths } from './paths.ts'
const client = createClient<paths>()
void client.GET('/api/v1/nothing')
void client.GET('/api/v1/services/{id}')
void client.POST('/api/v1/services', { body: { name: 'web', type: 'website' } })
void client.GET('/api/v1/deploys', { params: { query: { page: 2 } } })
`

const home = fileURLToPath(new URL('../..', import.meta.url))

test('a client with generated types creates, lists and reads, and knows what it may not send', async (t) => {
  const { url } = await startApi(t)
  mkdirSync(join(home, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(home, '.cache/typed-client-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'paths.ts'), await typedPaths())
  writeFileSync(join(folder, 'flow.ts'), flow)
  writeFileSync(join(folder, 'wrong.ts'), wrong)

  assert.deepEqual(refusedLines(folder), ['wrong.ts 5', 'wrong.ts 6', 'wrong.ts 7', 'wrong.ts 8'])
  const { flow: follow } = await import(pathToFileURL(join(folder, 'flow.ts')).href)

  assert.deepEqual(await follow(url, token), {
    names: ['web'],
    status: 'queued',
    phase: 'queued',
    code: 'not_found',
  })
})

/** `wrong.ts 5`: the lines of the two files that the compiler refuses. */
function refusedLines(folder: string): string[] {
  const strict = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions']
  const modules = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const compiler = join(home, 'node_modules/.bin/tsc')
  const files = ['flow.ts', 'wrong.ts']
  const { stdout } = spawnSync(compiler, [...strict, ...modules, ...files], { cwd: folder, encoding: 'utf8' })
  const found = [...stdout.matchAll(/^(\w+\.ts)\((\d+),\d+\): error/gm)].map(
    ([, file, line]) => `${file} ${line}`,
  )
  return [...new Set(found)]
}

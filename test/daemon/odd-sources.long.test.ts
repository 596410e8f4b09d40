// Sources that cannot become a version: the user sees the deploy's error and the last line of its log, and
// nothing is left. Failures after the build are in failures.test.ts.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { findObjectsOf } from '../support/daemon/leftovers.ts'
import { dockerfile, fetchPage, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { baseImages } from '../support/docker/images.ts'
import { gitProcesses } from '../support/git/git-processes.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: ['--fetch-timeout=15'] })

/** The first deploy failed in this phase, its log ends with the reason, and nothing of it is left. */
async function failIn(t: TestContext, phase: string, files: Record<string, string>, settings: object = {}) {
  const { api, daemon } = suite
  const { first } = await createService(t, api, files, settings)
  assert.deepEqual([first.status, first.phase], ['failed', phase], first.error)
  const log = await logLines(api, first.id)
  assert.equal(log.at(-1), `failed: ${first.error}`)
  const hasEnded = async () => (await api.get(`/deploys/${first.id}/history`)).at(-1).state === 'failed'
  await until('the cleanup', hasEnded)
  assert.deepEqual(gitProcesses(first.id), [])
  assert.deepEqual(await findObjectsOf(daemon.prefix, first.id), [])
  return { first: first as Body, log }
}

/** More than the git server sends before it stalls. */
function createLargeRepository(t: TestContext) {
  const repository = createRepository(t)
  const names = Array.from({ length: 300 }, (_, index) => `file-${index}`)
  repository.commit(
    'Large',
    Object.fromEntries(names.map((name) => [name, randomBytes(600).toString('hex')])),
  )
  return repository
}

long('a remote that stalls in the middle of the pack is abandoned at the limit', async (t) => {
  const { url } = await createGitServer(t, { ...createLargeRepository(t), answer: () => 'stall' })

  const { first } = await failIn(t, 'fetching', {}, { repo_url: `${url}/app` })

  assert.equal(first.error, 'fetching took longer than its limit of 15s (--fetch-timeout)')
})

test('a root_dir that names a file is reported as such, without a path of the host', async (t) => {
  const { first } = await failIn(t, 'building', { app: 'a file' }, { root_dir: 'app' })

  assert.equal(first.error, 'the root dir app is not a folder')
})

test('an unreachable remote and an unknown host are reported as such', async (t) => {
  const away = await failIn(t, 'fetching', {}, { repo_url: 'http://user:hush@127.0.0.1:9/app' })
  const unknown = await failIn(t, 'fetching', {}, { repo_url: 'https://git.invalid/owner/app' })

  assert.equal(away.first.error, 'cannot read http://127.0.0.1:9/app: nothing listens at its address')
  assert.equal(
    unknown.first.error,
    'cannot read https://git.invalid/owner/app: its host name cannot be resolved',
  )
})

test('git LFS pointers are named, and an ignored docker-compose.yml too', async (t) => {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`

  const { log } = await failIn(t, 'building', { 'assets/a.bin': pointer, 'docker-compose.yml': '' })

  const words = 'is a Git LFS pointer; its content is not fetched, the build gets the pointer'
  assert.ok(log.includes(`assets/a.bin ${words}`), log.join('\n'))
  assert.ok(log.some((line) => line.startsWith('docker-compose.yml is not read')))
})

test('an empty repository is reported as empty', async (t) => {
  const { directory } = createRepository(t)

  const { first } = await failIn(t, 'fetching', {}, { repo_url: directory })

  assert.equal(first.error, `${directory} has no branch: the repository is empty`)
})

long('a missing base image fails the build with its name and its registry', async (t) => {
  const { first } = await failIn(t, 'building', { Dockerfile: 'FROM registry.invalid/no/such:1\n' })

  assert.match(
    first.error,
    /^the base image registry\.invalid\/no\/such:1 cannot be obtained: registry\.invalid does not respond \(/,
  )
})

const broken: [what: string, text: string, error: RegExp][] = [
  ['is empty', '', /the Dockerfile (\(.*\) )?cannot be empty/],
  ['has an unknown instruction', 'FROM scratch\nRUNN x\n', /line 2: unknown instruction: RUNN/],
  ['names an impossible image', 'FROM UPPER/Case:!!\n', /"UPPER\/Case:!!": invalid reference format/],
]

for (const [what, text, error] of broken) {
  test(`a Dockerfile that ${what} fails the build with the line`, async (t) => {
    const { first } = await failIn(t, 'building', { Dockerfile: text })
    assert.match(first.error, error)
  })
}

long('a build that prints 200,000 lines goes live, and its log names what the builder omitted', async (t) => {
  const { api } = suite
  const loop = 'i=0; while [ $i -lt 200000 ]; do echo "line $i of the build"; i=$((i+1)); done'

  const { name, first } = await createService(t, api, await pageApp('talkative', `RUN ${loop}`))

  assert.equal(first.status, 'live', first.error)
  assert.equal(await fetchPage(api, name), 'talkative')
  const log = await logLines(api, first.id)
  assert.ok(log.some((line) => line.endsWith(' line 0 of the build')))
  assert.ok(log.some((line) => /\[output clipped, log limit .* reached\]$/.test(line)))
  assert.equal(log.at(-1), 'live')
})

long('an app that accepts connections and never responds fails its check with that reason', async (t) => {
  const { node } = await baseImages()
  const files = { Dockerfile: `FROM ${node}\n` }
  const command = 'exec node -e "require(\'net\').createServer().listen(3000)"'
  const settings = { start_command: command, health_check_path: '/', health_check_timeout_seconds: 12 }

  const { first, log } = await failIn(t, 'checking', files, settings)

  const limit = '12s (--health-timeout)'
  assert.equal(first.error, `the health check did not pass within ${limit}: GET / on port 3000 → no response`)
  assert.ok(log.includes('the instance wrote nothing'), log.join('\n'))
})

test('an app that listens on loopback only fails its check, with the remedy', async (t) => {
  const command = 'echo hello; exec httpd -f -p 127.0.0.1:3000 -h /'
  const settings = { start_command: command, health_check_timeout_seconds: 3 }

  const { first, log } = await failIn(t, 'checking', { Dockerfile: await dockerfile() }, settings)

  assert.equal(
    first.error,
    'the health check did not pass within 3s (--health-timeout): ' +
      'TCP connection to port 3000 → connection refused; ' +
      'the instance listens on 3000 at 127.0.0.1 only: it must listen on 0.0.0.0:3000',
  )
  assert.ok(log.includes('hello'))
})

// Sources that cannot become a version: the user sees the deploy's error and the last line of its log, and
// nothing is left. Failures after the build are in failures.test.ts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { findObjectsOf } from '../support/daemon/leftovers.ts'
import { logLines, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { baseImages } from '../support/docker/images.ts'
import { gitProcesses } from '../support/git/git-processes.ts'
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

test('a root_dir that names a file is reported as such, without a path of the host', async (t) => {
  const { first } = await failIn(t, 'building', { app: 'a file' }, { root_dir: 'app' })

  assert.equal(first.error, 'the root dir app is not a folder')
})

test('the log names Git LFS, and an ignored docker-compose.yml too', async (t) => {
  const { log } = await failIn(t, 'building', {
    '.gitattributes': '*.bin filter=lfs',
    'docker-compose.yml': '',
  })

  const words = 'the source uses Git LFS: its files are not fetched, the build gets pointers'
  assert.ok(log.includes(words), log.join('\n'))
  assert.ok(log.some((line) => line.startsWith('docker-compose.yml is not read')))
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

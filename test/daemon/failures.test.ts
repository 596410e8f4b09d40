// Deploys that cannot succeed: each shows its reason to the user and leaves nothing behind, and the old
// version continues to serve.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api, Body } from '../support/daemon/api.ts'
import { findObjectsOf } from '../support/daemon/leftovers.ts'
import { dockerfile, fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { createGitServer } from '../support/git/git-server.ts'
import { pointerOf } from '../support/git/lfs-server.ts'
import { createRepository } from '../support/git/repository.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: ['--fetch-timeout=15', '--build-timeout=20'] })

/** The failed deploy's record and log after its cleanup; checks that nothing is left. */
async function waitForFailure(api: Api, id: string): Promise<{ deploy: Body; log: string[] }> {
  const deploy = await finishedDeploy(api, id)
  assert.equal(deploy.status, 'failed')
  const log = await logLines(api, id)
  assert.equal(log.at(-1), `failed: ${deploy.error}`)
  await until('the cleanup', async () => (await api.get(`/deploys/${id}/history`)).at(-1).state === 'failed')
  assert.deepEqual(await findObjectsOf(suite.daemon.prefix, id), [])
  return { deploy, log }
}

async function failFirst(
  t: Parameters<typeof createService>[0],
  files: Record<string, string>,
  settings = {},
) {
  const { first } = await createService(t, suite.api, files, settings)
  return waitForFailure(suite.api, first.id)
}

test('without a Dockerfile, the error says why no recipe fits', async (t) => {
  const { deploy } = await failFirst(t, { 'package.json': '{}' }, { root_dir: '.' })
  assert.equal(deploy.phase, 'building')
  assert.match(deploy.error, /^the source has no Dockerfile, and package\.json has no start script/)
})

long('the log names Git LFS, and an ignored docker-compose.yml too', async (t) => {
  const lfs = { '.gitattributes': '*.bin filter=lfs', 'a.bin': pointerOf('a') }
  const files = { ...lfs, 'docker-compose.yml': '' }
  const { log } = await failFirst(t, files)
  const words = 'the files of Git LFS are not read from a path: the build gets pointers'
  assert.ok(log.includes(words), log.join('\n'))
  assert.ok(log.some((line) => line.startsWith('docker-compose.yml is not read')))
})

test('a failed build names its command and exit code', async (t) => {
  const { deploy, log } = await failFirst(t, {
    Dockerfile: await dockerfile('RUN echo about to fail; exit 3'),
  })
  assert.equal(deploy.phase, 'building')
  assert.match(deploy.error, /echo about to fail.*exited with code 3/)
  assert.ok(log.some((line) => /about to fail$/.test(line)))
})

long('a hanging build is stopped at its limit', async (t) => {
  const { deploy } = await failFirst(t, { Dockerfile: await dockerfile('RUN sleep 600') })
  assert.match(deploy.error, /the build took longer than its limit.*--build-timeout/)
})

const crashes = [
  {
    what: 'exits with 1',
    command: 'echo boo; exit 1',
    error: /the instance exited with code 1/,
    code: 'instance_failed',
    says: 'boo',
  },
  {
    what: 'exits with 0',
    command: 'echo bye',
    error: /exited on its own \(exit code 0\)/,
    code: 'exited_early',
    says: 'bye',
  },
  {
    what: 'is not found',
    command: 'no-such-program',
    error: /there is no 'no-such-program' in PATH \(.*\(exit code 127\)/,
    code: 'instance_failed',
    says: 'not found',
  },
]
for (const { what, command, error, code, says } of crashes) {
  test(`an app that ${what} fails the deploy with its last lines in the log`, async (t) => {
    const { deploy, log } = await failFirst(t, { Dockerfile: await dockerfile() }, { start_command: command })
    assert.deepEqual([deploy.phase, deploy.error_code], ['checking', code])
    assert.match(deploy.error, error)
    assert.ok(
      log.some((line) => line.includes(says)),
      log.join('\n'),
    )
  })
}

test('an app on the wrong port fails its check, and the error names its port', async (t) => {
  const command = { start_command: 'exec httpd -f -p 8080 -h /', port: 3000 }
  const settings = { ...command, health_check_timeout_seconds: 3 }
  const { deploy } = await failFirst(t, { Dockerfile: await dockerfile() }, settings)
  assert.match(deploy.error, /TCP connection to port 3000 → connection refused.*listens on 8080, not on 3000/)
})

test('a failed deploy leaves the old version serving', async (t) => {
  const { api } = suite
  const { name, deploy, first } = await createService(t, api, await pageApp('one'))
  await waitForFailure(api, (await deploy({ Dockerfile: await dockerfile('RUN false') })).id)
  assert.equal(await fetchPage(api, name), 'one')
  const service = await api.get(`/services/${name}`)
  assert.deepEqual([service.state, service.live_deploy_id], ['live', first.id])
})

test('credentials in a repository URL are used and never shown', async (t) => {
  const { api, daemon } = suite
  const repository = createRepository(t)
  repository.commit('Private', await pageApp('private page'))
  const password = 'canary-pass-5up3r'
  const server = await createGitServer(t, {
    root: repository.root,
    credentials: { username: 'ada', password },
  })
  const url = `${server.url.replace('//', `//ada:${password}@`)}/app`
  const { name, first } = await createService(t, api, null, { repo_url: url })
  assert.equal(first.status, 'live', first.error)
  assert.equal(await fetchPage(api, name), 'private page')
  const service = await api.get(`/services/${name}`)
  assert.equal(service.repo_url, `${server.url}/app`)
  const log = (await logLines(api, first.id)).join('\n')
  assert.doesNotMatch(JSON.stringify(service) + log + daemon.log.join('\n'), /canary-pass/)

  const wrong = await createService(t, api, null, {
    repo_url: `${server.url.replace('//', '//ada:wrong-pw@')}/app`,
  })
  const { deploy } = await waitForFailure(api, wrong.first.id)
  assert.doesNotMatch(deploy.error, /wrong-pw/)
})

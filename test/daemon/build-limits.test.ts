// Hostile Dockerfiles against a daemon with build limits. Each bomb ends unattended within 20 s.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { dockerfile, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const limits = ['--build-memory-limit=128', '--build-cpu-limit=0.5', '--build-pids-limit=100']
/** Larger than the engine's cache after all tests, so that other tests lose no entries. */
const args = [...limits, '--build-cache-size=20000']
const suite = daemonSuite({ args })
const skip = process.getuid?.() === 0 ? false : 'needs root'

/** Runs the rest only when the limits apply; a second memory limit guards against their failure. */
const safely = [
  'ulimit -v 1000000; n=0',
  'until grep -q -- -builds /proc/self/cgroup; do n=$((n+1)); [ $n -lt 100 ] || exit 99; sleep 0.1; done',
].join('; ')

test('the build limits are shown, and whether they are enforced', { skip }, async () => {
  const { builds } = await suite.api.get('/info')

  assert.deepEqual(builds, {
    builder: 'buildkit',
    memory_limit_mb: 128,
    cpu_limit: 0.5,
    pids_limit: 100,
    limits_in_force: true,
    limits_reason: null,
    cache_size_mb: 20_000,
    hangs_since: null,
  })
  assert.ok(suite.daemon.log.some((line) => line.includes('builds are limited')))
})

long('a memory bomb in a Dockerfile fails the deploy and names the limit', { skip }, async (t) => {
  const deploy = await failedDeploy(t, 'timeout 20 tail /dev/zero')

  assert.match(deploy.error, / at the memory limit of builds, 128 MiB \(--build-memory-limit\)$/)
})

long('a fork bomb in a Dockerfile fails the deploy and names the limit', { skip }, async (t) => {
  const deploy = await failedDeploy(t, 'b() { b | b & }; b; sleep 5; exit 3')

  assert.match(deploy.error, /builds reached their limit of 100 processes \(--build-pids-limit\)$/)
})

long('a step that forks immediately is limited too', { skip }, async (t) => {
  const Dockerfile = await dockerfile('RUN n=0; while [ $n -lt 3000 ]; do sleep 5 & n=$((n+1)); done')
  const { first } = await createService(t, suite.api, { Dockerfile })

  assert.equal(first.status, 'failed')
  assert.match(first.error, /builds reached their limit of 100 processes \(--build-pids-limit\)$/)
})

long('a busy loop in a Dockerfile does not slow the requests of another service', { skip }, async (t) => {
  const neighbour = await createService(t, suite.api, await pageApp('page'))
  const { instances } = await suite.api.get(`/services/${neighbour.name}/status`)
  const url = `http://${instances[0].address}/`
  await measure(url)
  const loop = 'while :; do :; done'
  const busy = await createService(t, suite.api, null)
  assert.equal(busy.first.status, 'live')
  const quiet = await measure(url)
  const bomb = `for i in 1 2 3 4; do timeout 12 sh -c "${loop}" & done; echo spinning; wait; exit 4`
  busy.repository.commit('Spin', { Dockerfile: await dockerfile(`RUN ${safely}; ${bomb}`) })
  const { id } = await busy.request()
  await untilLogged(id, 'spinning')

  const loaded = await measure(url)

  const deploy = await suite.api.get(`/deploys/${id}`)
  assert.equal(deploy.phase, 'building')
  const ratio = loaded / quiet
  t.diagnostic(
    `p99 ${quiet.toFixed(1)} ms quiet, ${loaded.toFixed(1)} ms next to a busy loop: ${ratio.toFixed(2)}`,
  )
  assert.ok(ratio < 5, `p99 grew ${ratio} times`)
  assert.match((await finishedDeploy(suite.api, id)).error, /exited with code 4$/)
})

async function failedDeploy(t: TestContext, command: string): Promise<Body> {
  const { first } = await createService(t, suite.api, {
    Dockerfile: await dockerfile(`RUN ${safely}; ${command}`),
  })
  assert.deepEqual([first.status, first.phase], ['failed', 'building'], first.error)
  return first
}

async function untilLogged(deployId: string, word: string): Promise<void> {
  await until(`'${word}' in the log`, async () => {
    for await (const { event, data } of suite.api.events(`/deploys/${deployId}/logs`)) {
      if (event === 'end') return false
      const { stream, line } = JSON.parse(data)
      if (stream === 'stdout' && line.endsWith(word)) return true
    }
    return false
  })
}

/** The 99th percentile of 600 sequential requests, in ms. */
async function measure(url: string): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < 600; count++) {
    const begin = performance.now()
    await (await fetch(url)).text()
    times.push(performance.now() - begin)
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!
}

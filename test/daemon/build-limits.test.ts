// Hostile Dockerfiles against a daemon with build limits. Each bomb ends unattended within 20 s.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { dockerfile } from '../support/daemon/service.ts'
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

async function failedDeploy(t: TestContext, command: string): Promise<Body> {
  const { first } = await createService(t, suite.api, {
    Dockerfile: await dockerfile(`RUN ${safely}; ${command}`),
  })
  assert.deepEqual([first.status, first.phase], ['failed', 'building'], first.error)
  return first
}

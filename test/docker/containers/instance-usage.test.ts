import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'

test('usage is measured while an instance runs', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const wanted = await spec({ command: 'while true; do true; done', cpuLimit: 0.5 })
  await instances.ensure(wanted)

  const usage = await until('work is seen', async () => {
    const seen = await instances.usage(wanted.name)
    return seen && seen.cpuPercent > 5 && seen
  })

  assert.ok(usage.cpuPercent < 120, String(usage.cpuPercent))
  assert.ok(usage.memoryBytes > 0 && usage.memoryBytes < 64 * 1024 * 1024, String(usage.memoryBytes))
  await instances.stop(wanted.name, 1)
  assert.equal(await instances.usage(wanted.name), null)
})

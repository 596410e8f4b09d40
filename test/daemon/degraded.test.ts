// Live services that do not get what they need are degraded, and the status has the reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'

const suite = daemonSuite()

test('a crash loop shows as degraded, with the restarts counted', async (t) => {
  const { api } = suite
  const files = { Dockerfile: await dockerfile() }
  // The first time, it runs until it is live, however long that takes here.
  const command = '[ -e /tmp/started ] && exit 7; touch /tmp/started; sleep 20; exit 7'
  const settings = { type: 'background_worker', start_command: command }
  const { name, first } = await createService(t, api, files, settings)
  assert.equal(first.status, 'live')
  const { reason } = await until('degraded, with a reason', async () => {
    const found = await api.get(`/services/${name}/status`)
    return found.state === 'degraded' && found.reason && found
  })
  assert.match(reason, /^(instances ended \d+ times within 5 minutes|0 of 1 instances run)/)

  const { stdout } = await runBerth(t, ['why', name], suite)
  assert.match(stdout, new RegExp(`^ ${name} is degraded, `))
  assert.match(
    stdout,
    new RegExp(`! ${reason.slice(0, 4)}.*; \\d+ restarts? of its instances: berth logs ${name}`),
  )
})

// The HEALTHCHECK of an image decides whether a deploy goes live and whether a live service is degraded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()

test('an image whose HEALTHCHECK fails does not go live', async (t) => {
  const files = await pageApp('one', 'HEALTHCHECK --interval=1s --retries=2 CMD echo no database; exit 1')
  const { first } = await createService(t, suite.api, files, { health_check_timeout_seconds: 8 })

  assert.equal(first.status, 'failed')
  assert.match(
    first.error,
    /^the health check did not pass .* port 3000, and the HEALTHCHECK of the image → /,
  )
  assert.match(first.error, /→ unhealthy: no database$/)
})

long("an image that becomes healthy goes live, without waiting for Docker's interval", async (t) => {
  const check = 'HEALTHCHECK --interval=1h CMD ["sh", "-c", "[ -e /tmp/ready ]"]'
  const files = await pageApp('one', check)
  const start_command = '(sleep 3; touch /tmp/ready) & exec httpd -f -p $PORT -h /www'
  const { name, first } = await createService(t, suite.api, files, { start_command })

  assert.deepEqual([first.status, first.health_check], ['live', 'image'], first.error)
  const log = await logLines(suite.api, first.id)
  assert.ok(log.includes('healthy: TCP connection to port 3000, and the HEALTHCHECK of the image'))
  assert.equal((await suite.api.get(`/services/${name}`)).health_check, 'image')
})

long('an instance that becomes unhealthy is degraded with its reason, serves on, and recovers', async (t) => {
  const check =
    'HEALTHCHECK --interval=1s --retries=1 CMD [ ! -e /www/sick ] || { echo queue stuck; exit 1; }'
  const files = await pageApp('one', check)
  const start_command = 'httpd -p $PORT -h /www; sleep 6; touch /www/sick; sleep 12; rm /www/sick; sleep 600'
  const { api } = suite
  const { name, first } = await createService(t, api, files, { start_command })
  assert.equal(first.status, 'live', first.error)
  const status = () => api.get(`/services/${name}/status`)
  const [before] = (await status()).instances

  const degraded = await until('the degraded state', async () => {
    const found = await status()
    return found.state === 'degraded' ? found : null
  })
  assert.equal(degraded.reason, 'instance 1 is unhealthy: queue stuck')
  assert.equal(degraded.instances[0].health, 'unhealthy')
  const recovered = await until('the recovery', async () => {
    const found = await status()
    return found.state === 'live' ? found : null
  })
  const [after] = recovered.instances
  assert.deepEqual([after.container_id, after.restart_count], [before.container_id, 0])
})

long('a health path replaces HEALTHCHECK, and HEALTHCHECK NONE disables it', async (t) => {
  const failing = 'HEALTHCHECK --interval=1s CMD false'
  const settings = { health_check_path: '/healthz' }
  const byPath = await createService(t, suite.api, await pageApp('one', failing), settings)
  const byPort = await createService(t, suite.api, await pageApp('one', failing, 'HEALTHCHECK NONE'))

  assert.deepEqual([byPath.first.status, byPath.first.health_check], ['live', 'path'], byPath.first.error)
  assert.deepEqual([byPort.first.status, byPort.first.health_check], ['live', 'port'], byPort.first.error)
})

// The port of an app: undeclared, or declared in different places.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfile, fetchPage, logLines, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()

async function listening(command: string, ...lines: string[]): Promise<Record<string, string>> {
  const cmd = `CMD ["sh", "-c", "${command}"]`
  return { Dockerfile: await dockerfile('RUN mkdir /www; echo one > /www/index.html', ...lines, cmd) }
}

const serve = (port: number | string) => `httpd -f -p ${port} -h /www`

test('an app that listens on a single port is served there, also by later instances', async (t) => {
  const { api } = suite
  const files = await listening(serve(8000))
  const { name, first, deploy } = await createService(t, api, files)

  assert.deepEqual([first.status, first.port, first.port_source], ['live', 8000, 'detected'], first.error)
  assert.equal((await fetchPage(api, name)).trim(), 'one')
  const log = await logLines(api, first.id)
  assert.ok(log.includes('it listens on 8000, not on 3000'), log.join('\n'))
  assert.ok(log.includes('its port is unknown: using 8000, where it listens'), log.join('\n'))
  const service = await api.get(`/services/${name}`)
  assert.deepEqual(
    [service.port, service.internal_port, service.port_source, service.health_check],
    [null, 8000, 'detected', 'port'],
  )
  await api.post(`/services/${name}/scale`, { instances: 2 })
  await until('two instances', async () => {
    const { instances } = await api.get(`/services/${name}/status`)
    const ports = instances.map(({ address }: { address: string | null }) => address?.split(':')[1])
    return ports.length === 2 && ports.every((port: string | undefined) => port === '8000')
  })
  const next = await deploy({ 'other.txt': 'a new version' })
  assert.deepEqual([next.status, next.port, next.port_source], ['live', 8000, 'detected'], next.error)
})

long('an app on another port than the configured one fails early, with the command that helps', async (t) => {
  const { name, first } = await createService(t, suite.api, await listening(serve(8000)), { port: 3000 })

  assert.equal(first.status, 'failed')
  assert.equal(
    first.error,
    'TCP connection to port 3000 → connection refused; ' +
      `the instance listens on 8000, not on 3000: berth update ${name} --port 8000`,
  )
  const log = await logLines(suite.api, first.id)
  assert.ok(log.includes('it listens on 8000, not on 3000'), log.join('\n'))
})

long('an app that listens on loopback only fails with that reason', async (t) => {
  const { first } = await createService(t, suite.api, await listening(serve('127.0.0.1:3000')))

  assert.equal(first.status, 'failed')
  const reason = 'the instance listens on 3000 at 127.0.0.1 only: it must listen on 0.0.0.0:3000'
  assert.equal(first.error, `TCP connection to port 3000 → connection refused; ${reason}`)
})

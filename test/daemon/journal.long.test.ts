// The daemon's own log contains enough to reconstruct what happened.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'

/** The first lines with this message, up to the wanted number, without time and level. */
async function lines({ log }: TestDaemon, message: string, count: number): Promise<object[]> {
  return until(`${count} lines: ${message}`, async () => {
    const all = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message)
    return all.length >= count && all.map(({ ts: _, level: __, msg: ___, ...fields }) => fields)
  })
}

test('the journal has each deploy with its service, and with the reason of a failure', async (t) => {
  const daemon = await startDaemon(t)
  const { name: service, first, deploy } = await createService(t, daemon.api, null)

  const second = await deploy({ Dockerfile: await dockerfile('CMD ["false"]') })

  assert.deepEqual(await lines(daemon, 'a deploy has its outcome', 2), [
    { service, deploy: first.id, outcome: 'live' },
    { service, deploy: second.id, outcome: `failed: ${second.error}` },
  ])
})

test('the journal has the subnet of the network, and that it differs from the requested one', async (t) => {
  const first = await startDaemon(t)
  const [taken] = (await lines(first, 'the Docker engine is ready', 1)) as { subnet: string }[]
  assert.ok(taken)

  const second = await startDaemon(t, { args: ['--subnet', taken.subnet] })

  const [ready] = (await lines(second, 'the Docker engine is ready', 1)) as { subnet: string }[]
  assert.notEqual(ready?.subnet, taken.subnet)
  const [line] = await lines(second, 'the network has another subnet', 1)
  const reason = `--subnet is ${taken.subnet}: the subnet was in use, or the network already existed`
  assert.deepEqual(line, { network: second.prefix, subnet: ready?.subnet, reason })
})

test('the journal has a stop from its signal to its end', async (t) => {
  const daemon = await startDaemon(t)

  assert.equal(await daemon.stop(), 0)

  const last = daemon.log.slice(-2).map((line) => JSON.parse(line).msg)
  const stopping = 'stopping: open requests have 10 s to finish; running deploys continue at the next start'
  assert.deepEqual(last, [stopping, 'berthd has stopped'])
})

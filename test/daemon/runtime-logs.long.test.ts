// Runtime logs across real deploys: they outlive containers, deploys and daemons, and are deleted
// with their service.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../support/daemon/api.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { dockerfile, finishedDeploy, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'

/** Prints its name, counts until SIGTERM, then prints a last line. */
const counting = [
  'echo "$BERTH_DEPLOY_ID begins"',
  'trap "echo $BERTH_DEPLOY_ID ends; exit 0" TERM',
  'i=0; while true; do i=$((i+1)); echo "$BERTH_DEPLOY_ID $i"; sleep 0.02; done',
].join('; ')

async function storedLines(api: Api, name: string): Promise<Body[]> {
  const lines: Body[] = []
  for await (const { event, id, data } of api.events(`/services/${name}/logs?tail=10000`)) {
    if (event === 'log') lines.push({ number: Number(id), ...JSON.parse(data) })
  }
  return lines
}

function createWorker(t: TestContext, api: Api, command: string) {
  const settings = { type: 'background_worker', start_command: command }
  return dockerfile().then((text) => createService(t, api, { Dockerfile: text }, settings))
}

test('lines of two deploys appear once and in order, across a kill and a stop of the daemon', async (t) => {
  const daemon = await startDaemon(t)
  const { name, first } = await createWorker(t, daemon.api, counting)
  await daemon.kill()
  await sleep(1500)
  await daemon.start()
  const next = await daemon.api.post(`/services/${name}/restart`)
  await finishedDeploy(daemon.api, next.id)
  await until('the last words', async () => {
    return (await storedLines(daemon.api, name)).some(({ line }) => line === `${first.id} ends`)
  })
  await daemon.stop()
  await sleep(1500)
  await daemon.start()
  const before = (await storedLines(daemon.api, name)).length
  await until('more lines', async () => (await storedLines(daemon.api, name)).length > before + 100)

  const lines = await storedLines(daemon.api, name)

  assert.deepEqual(
    lines.map(({ number }) => number),
    lines.map((_, index) => index + 1),
  )
  for (const { id } of [first, next]) {
    const instanceLines = lines.filter(({ line }) => line.startsWith(id))
    const [begins, ...rest] = instanceLines.map(({ line }) => line.slice(id.length + 1))
    const counted = rest.filter((word) => word !== 'ends')
    assert.equal(begins, 'begins')
    assert.deepEqual(
      counted,
      counted.map((_, index) => String(index + 1)),
    )
    assert.deepEqual(
      [...new Set(instanceLines.map(({ deploy_id, instance }) => `${deploy_id}/${instance}`))],
      [`${id}/0`],
    )
  }
  assert.ok(lines.some(({ line }) => line === `${first.id} ends`))
})

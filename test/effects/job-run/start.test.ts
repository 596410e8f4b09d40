// The start of a run that Docker did not confirm.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { addressAt, ensureNetwork, parseSubnet } from '../../../src/docker/network/networks.ts'
import { jobRunEffects } from '../../../src/effects/job-run/job-run.ts'
import { createJobSlots } from '../../../src/effects/job-run/job-slots.ts'
import type { JobRunPorts } from '../../../src/effects/job-run/ports.ts'
import { createRunInputs } from '../../../src/effects/job-run/run-inputs.ts'
import { Failure } from '../../../src/errors.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { openDockerSite, testSubnet } from '../../support/docker/docker-site.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'

/** A run whose first start gets no answer: Docker ends before it starts the container. */
async function openRun(t: TestContext) {
  const { engine, owner, instances, images } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  const [id, deployId] = [createIds().newId('job'), createIds().newId('dep')]
  const service = serviceRow({ name: 'tools', memory_limit_mb: 64, cpu_limit: 1 })
  await storage.services.create(service)
  await storage.actors.create(transitionOf({ id }))
  await storage.releases.freeze(deployId, () => ({ settings: service, env: [], resolved: null }))
  const { name, subnet } = await ensureNetwork(engine, owner, testSubnet)
  const block = parseSubnet(subnet)!
  const range = { first: addressAt(block, 40), last: addressAt(block, 50) }
  const ports = standIn<JobRunPorts>({
    storage,
    engine,
    owner,
    instances,
    logger: silentLogger,
    engineReady: async () => ({ name, range }),
    isolation: { apply: async () => undefined },
    jobSlots: createJobSlots(1),
    runInputs: createRunInputs(),
    settings: { pidsLimit: 64 },
  })
  const { call } = engine
  let isLost = false
  t.mock.method(engine, 'call', async (...words: Parameters<typeof call>) => {
    if (!isLost && words[0].startsWith('start ')) {
      isLost = true
      throw new Failure('docker_unavailable', 'the connection to Docker was closed')
    }
    return call(...words)
  })
  const input = { id, serviceId: service.id, deployId, image: images.busybox, command: 'true', stdin: false }
  return { engine, start: () => jobRunEffects(ports).startRun(input, t.signal) }
}

test('a run whose start did not reach Docker is started', async (t) => {
  const { start } = await openRun(t)
  assert.ok((await start()).startedAt)
})

test('a run is not started again by a Docker that was restarted meanwhile', async (t) => {
  const { engine, start } = await openRun(t)
  // A restarted engine knows no events.
  t.mock.method(engine.docker, 'getEvents', async () => Readable.from([]))
  await assert.rejects(start(), { code: 'docker_error', message: /which may have run$/ })
})

// What a build gets of the env of its deploy.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buildInputs } from '../../../../src/effects/deploy/build/job.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { StorageError } from '../../../../storage/store/errors.ts'
import { createIds } from '../../../../storage/store/ids.ts'
import { standIn } from '../../../support/effects/stand-in.ts'
import { serviceRow, transitionOf } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

/** One deploy whose env has a reference to the service `other`. */
async function openRun(t: TestContext, wishes: Partial<ServiceRow> = {}) {
  const storage = await temporaryStorage(t)
  const id = createIds().newId('dep')
  const settings = { ...serviceRow(), ...wishes }
  const env = [
    { key: 'PLAIN', value: 'x' },
    { key: 'BUILDKIT_CACHE_MOUNT_NS', value: 'other' },
    { key: 'URL', value: `\${{service.other.internalUrl}}` },
  ]
  await storage.services.create(settings)
  await storage.actors.create(transitionOf({ id }))
  await storage.releases.freeze(id, () => ({ settings, env, resolved: null }))
  const ports = standIn<DeployPorts>({ storage })
  return new DeployPhase(ports, { id, serviceId: settings.id }, t.signal)
}

test('a build omits variables with unresolved references', async (t) => {
  const { secrets } = buildInputs(await openRun(t))

  assert.deepEqual(
    secrets.map(({ key }) => key),
    ['PLAIN', 'BUILDKIT_CACHE_MOUNT_NS'],
  )
})

test('a build omits reserved arguments that a former version stored, and its log says so', async (t) => {
  const build_args = { MODE: 'fast', BUILDKIT_SYNTAX: 'elsewhere/frontend' }
  const run = await openRun(t, { build_env: ['PLAIN', 'BUILDKIT_CACHE_MOUNT_NS'], build_args })
  const lines: string[] = []
  run.log.info = (line) => void lines.push(line)

  const { buildArgs } = buildInputs(run)

  assert.deepEqual(buildArgs, { PLAIN: 'x', MODE: 'fast' })
  assert.deepEqual(lines, [
    'the build runs without the build argument BUILDKIT_CACHE_MOUNT_NS: ' +
      'Berth sets it, to another value for each service',
    'the build runs without the build argument BUILDKIT_SYNTAX: ' +
      "a '# syntax=' line in the Dockerfile does the same",
  ])
})

test('a damaged row is not treated as a missing one', async (t) => {
  const { ports, release, log } = await openRun(t)
  const damaged = () => {
    throw new StorageError('row_damaged', 'the row fails its checksum')
  }
  const storage = { ...ports.storage, services: { ...ports.storage.services, get: damaged } }

  assert.throws(() => buildInputs(standIn<DeployPhase>({ ports: { storage }, release, log })), {
    code: 'row_damaged',
  })
})

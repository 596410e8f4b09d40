// Variants of a deploy: a pulled image, a reused image, a pre-deploy command, and snapshots
// of earlier versions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeploySnapshot, machine, migrate, toRecord, version } from '../../../machines/deploy/deploy.ts'
import {
  deployInput,
  grantedTurn,
  happyEffects,
  happyPath,
  imageInput,
  imagePath,
  instant,
  sha,
} from '../../support/machines/deploy-chart.ts'
import { forever, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const waits: TestEffect = (_, signal) => forever(signal)
const awaitTurn = async () => ({ ...grantedTurn, preDeploy: true })

test('an image is pulled instead of built, and its command runs before its instances start', async () => {
  const exact = { ...imageInput().source, image: 'example.com/shop:v1@sha256:abc' }
  const pullImage = async () => ({ at: instant, image: 'berth/shop:dep-1', source: exact })
  const effects = happyEffects({ awaitTurn, pullImage, keepInstances: waits })
  const run = runMachine(machine, effects, { input: imageInput() })
  await run.reached('live')
  assert.deepEqual(run.states, [...imagePath, ...happyPath.slice(4, 7)])
  const { image, source, commit_sha } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([image, source, commit_sha], ['berth/shop:dep-1', exact, null])
})

test('a built image also runs its pre-deploy command', async () => {
  const run = runMachine(machine, happyEffects({ awaitTurn, keepInstances: waits }), { input: deployInput() })
  await run.reached('live')
  assert.deepEqual(run.states.slice(2, 5), ['running.building', 'running.preparing', 'running.starting'])
})

/** The context fields that each earlier version did not have. */
const unknown: [version: number, fields: string[]][] = [
  [1, ['preDeploy', 'settleMs', 'onSchedule']],
  [2, ['settleMs', 'onSchedule']],
  [3, ['onSchedule']],
]
for (const [from, fields] of unknown) {
  test(`a deploy of version ${from} continues from its state`, async () => {
    const effects = happyEffects({
      awaitTurn: async () => ({ ...grantedTurn, settleMs: 0 }),
      buildImage: waits,
    })
    const now = runMachine(machine, effects, { input: deployInput() })
    await now.reached('running.building')
    const snapshot = now.snapshots.at(-1)!
    now.actor.stop()
    const old = structuredClone(snapshot) as unknown as { context: Record<string, unknown> }
    for (const field of fields) delete old.context[field]

    const migrated = migrate(old, from)

    assert.deepEqual(migrated, snapshot)
    const run = runMachine(machine, happyEffects(), { snapshot: migrated as never })
    await run.reached('deactivated')
    assert.deepEqual(run.states, happyPath.slice(2))
  })
}

test('a version 4 deploy keeps its schedule data', async () => {
  const onSchedule = async () => ({ ...grantedTurn, onSchedule: true })
  const effects = happyEffects({ awaitTurn: onSchedule, startInstances: waits })
  const run = runMachine(machine, effects, { input: deployInput() })
  await run.reached('running.starting')
  run.actor.stop()
  assert.equal(version, 4)
  assert.deepEqual(migrate(run.snapshots.at(-1), 4), run.snapshots.at(-1))
})

test('a restart neither fetches nor builds: it starts the live image', async () => {
  const reused = { image: 'berth/shop:dep-0', commitSha: sha, commitMessage: 'Before' }
  const effects = happyEffects({ awaitTurn: async () => ({ ...grantedTurn, reused }), keepInstances: waits })
  const source = { ...deployInput().source, kind: 'reuse' as const }
  const run = runMachine(machine, effects, { input: deployInput({ source }) })
  await run.reached('live')
  assert.deepEqual(run.states, ['queued', ...happyPath.slice(3, 7)])
  const { image, commit_sha, commit_message } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([image, commit_sha, commit_message], ['berth/shop:dep-0', sha, 'Before'])
})

// The input of each effect of a deploy, because after a restart an effect has nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machine } from '../../../machines/deploy/deploy.ts'
import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
import {
  deployInput,
  failure,
  grantedTurn,
  happyEffects,
  imageInput,
  sha,
} from '../../support/machines/deploy-chart.ts'
import { forever, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const owner = { id: 'dep-1', serviceId: 'svc-1' }
const minuteMs = 60_000

/**
 * Effects that record their inputs. The first ends one minute after the request, the next after two,
 * and so on.
 */
function recordingEffects(changes: Record<string, TestEffect> = {}) {
  const inputs: Record<string, unknown> = {}
  let atMs = Date.parse(deployInput().at)
  const listen =
    (name: string, effect: TestEffect): TestEffect =>
    async (input, signal) => {
      inputs[name] = input
      const output = (await effect(input, signal)) as object
      atMs += minuteMs
      return { ...output, at: new Date(atMs).toISOString() }
    }
  const awaitTurn = async () => ({ ...grantedTurn, preDeploy: true })
  const effects = Object.entries(happyEffects({ awaitTurn, ...changes }))
  return {
    told: inputs,
    effects: Object.fromEntries(effects.map(([name, effect]) => [name, listen(name, effect)])),
  }
}

/** The instant `minutes` after the request. */
const inMinutes = (count: number) => Date.parse(deployInput().at) + count * minuteMs

test('every effect receives its owner, the earlier results, and its deadline', async () => {
  const input = deployInput({ clearCache: true })
  const { told: inputs, effects } = recordingEffects()
  await runMachine(machine, effects, { input }).reached('deactivated')
  const image = 'berth/shop:dep-1'
  const expected = { port: 3000, portSource: 'default' }
  assert.deepEqual(inputs, {
    awaitTurn: { ...owner, source: input.source },
    fetchSource: { ...owner, source: input.source, deadlineAt: inMinutes(1 + 10) },
    buildImage: { ...owner, clearCache: true, timeoutMs: 60 * minuteMs },
    runPreDeploy: { ...owner, image, commitSha: sha, deadlineAt: inMinutes(3 + 60) },
    startInstances: { ...owner, image, commitSha: sha, deadlineAt: inMinutes(4 + 2) },
    probeInstances: { ...owner, ...expected, settleMs: 5000, deadlineAt: inMinutes(5 + 5) + 5000 },
    switchTraffic: { ...owner, formerDeployId: 'dep-0', deadlineAt: inMinutes(6 + 2) },
    keepInstances: { ...owner, image },
    drainInstances: { ...owner, port: 3000, drainUntil: inMinutes(8 + 0.5) },
  })
})

test('a pull receives its image, and has the time limit of a fetch', async () => {
  const input: DeployInput = imageInput()
  const { told: inputs, effects } = recordingEffects()
  await runMachine(machine, effects, { input }).reached('live')
  assert.deepEqual(inputs.pullImage, { ...owner, source: input.source, deadlineAt: inMinutes(1 + 10) })
})

test('the cleanup receives the previous live deploy, and the reason for the cleanup', async () => {
  const failing = recordingEffects({ fetchSource: () => Promise.reject(failure) })
  await runMachine(machine, failing.effects, { input: deployInput() }).reached('failed')
  const canceling = recordingEffects({ fetchSource: (_, signal) => forever(signal) })
  const run = runMachine(machine, canceling.effects, { input: deployInput() })
  await run.reached('running.fetching')
  run.actor.send({ type: 'cancel', at: deployInput().at, by: 'Ada' })
  await run.reached('canceled')

  const common = { ...owner, formerDeployId: 'dep-0' }
  assert.deepEqual(failing.told.removeTraces, { ...common, outcome: failure.message, canceled: false })
  assert.deepEqual(canceling.told.removeTraces, { ...common, outcome: 'canceled by Ada', canceled: true })
})

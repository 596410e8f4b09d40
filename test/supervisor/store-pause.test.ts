// Effects that fail because the store cannot write: they are retried, and the chart is not involved.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageError } from '../../storage/store/errors.ts'
import {
  eventually,
  instant,
  type SampleEffect,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const full = new StorageError('commit_failed', 'no space left')

/** Fails with a refused commit that many times, then succeeds. */
function refusedEffect(times: number) {
  const run = { attempts: 0 }
  const work: SampleEffect = async () => {
    if (++run.attempts <= times) throw full
    return { at: instant }
  }
  return { run, work }
}

test('an effect that failed because of the store is repeated until it succeeds', async (t) => {
  const storage = await temporaryStorage(t)
  const { run, work } = refusedEffect(2)
  const supervisor = superviseSamples(t, { storage, effects: { work } })

  await supervisor.spawn('err-1')

  await eventually('its end', () => storage.actors.get('err-1')?.final)
  assert.equal(storage.actors.record('err-1')?.status, 'done')
  assert.equal(run.attempts, 3)
})

test('an effect that waits for the store is ended by a cancel', async (t) => {
  const storage = await temporaryStorage(t)
  const { run, work } = refusedEffect(Number.POSITIVE_INFINITY)
  const supervisor = superviseSamples(t, { storage, effects: { work } })
  await supervisor.spawn('err-1')
  await eventually('the first attempt', () => run.attempts > 0)

  await supervisor.send('err-1', { type: 'cancel', at: instant })

  await eventually('its end', () => storage.actors.get('err-1')?.final)
  assert.equal(storage.actors.record('err-1')?.status, 'canceled')
})

// Requests to the supervisor that come too late, too often, or that the chart does not handle.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageError } from '../../storage/store/errors.ts'
import { withActors } from '../support/storage/store-fixtures.ts'
import {
  heldEffect,
  instant,
  type SampleEffect,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const at = instant
const full = new StorageError('commit_failed', 'no space left')

test('an event to an unknown actor is refused', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage })
  await assert.rejects(supervisor.send('err-9', { type: 'note', at }), {
    code: 'not_found',
    message: 'there is no err-9',
  })
})

test('a preview is the record that a spawn commits, and commits nothing', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  const by = { kind: 'server' as const, id: null, name: null }
  const preview = supervisor.preview('err-1', by)
  assert.equal(storage.actors.record('err-1'), null)
  const { record } = await supervisor.spawn('err-1')
  assert.deepEqual(preview, { ...record, by })
})

test('the request that created an actor is stored with its response', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage, effects: { work: heldEffect().effect } })
  const { record } = await supervisor.spawn('err-1', {}, { eventId: 'key-1' })
  assert.deepEqual(storage.events.get('key-1')?.body, record)
})

test('an actor that could not be stored can be requested again', async (t) => {
  const storage = await temporaryStorage(t)
  let refusals = 0
  const create: typeof storage.actors.create = (transition) => {
    if (refusals++ === 0) return Promise.reject(full)
    return storage.actors.create(transition)
  }
  const effects = { work: heldEffect().effect }
  const supervisor = superviseSamples(t, { storage: withActors(storage, { create }), effects })
  await assert.rejects(supervisor.spawn('err-1'), { code: 'commit_failed' })
  assert.equal((await supervisor.spawn('err-1')).duplicate, false)
})

test('an actor whose chart refuses its input is not created', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = superviseSamples(t, { storage })
  await assert.rejects(supervisor.spawn('err-1', { isOdd: true }), {
    code: 'internal_error',
    message: 'an odd sample has no context',
  })
  assert.equal(storage.actors.record('err-1'), null)
})

test('an event that arrives while the end is being written is not applied', async (t) => {
  const storage = await temporaryStorage(t)
  let letThrough = () => {}
  const gate = new Promise<void>((resolve) => (letThrough = resolve))
  const advance: typeof storage.actors.advance = (transition) =>
    gate.then(() => storage.actors.advance(transition))
  const supervisor = superviseSamples(t, {
    storage: withActors(storage, { advance }),
    effects: { work: heldEffect().effect },
  })
  await supervisor.spawn('err-1')
  const finished = supervisor.send('err-1', { type: 'finish', at })
  await new Promise((resolve) => setImmediate(resolve))

  const late = await supervisor.send('err-1', { type: 'note', at })
  letThrough()

  assert.deepEqual([late.applied, (await finished).applied], [false, true])
})

test('a refused request also rejects the requests behind it, and the actor restarts once', async (t) => {
  const storage = await temporaryStorage(t)
  const offered: number[] = []
  const advance: typeof storage.actors.advance = (transition) => {
    offered.push(transition.row.revision)
    return offered.length === 1 ? Promise.reject(full) : storage.actors.advance(transition)
  }
  let started = 0
  const work: SampleEffect = (input, signal) => {
    started++
    return heldEffect().effect(input, signal)
  }
  const supervisor = superviseSamples(t, { storage: withActors(storage, { advance }), effects: { work } })
  await supervisor.spawn('err-1')

  const responses = [1, 2, 3].map(() => supervisor.send('err-1', { type: 'note', at }))
  const reported = await Promise.all(
    responses.map((response) => response.catch(({ code, message }) => [code, message])),
  )

  const dropped = ['commit_failed', 'an earlier transition could not be saved']
  assert.deepEqual(reported, [['commit_failed', 'no space left'], dropped, dropped])
  assert.equal((await supervisor.send('err-1', { type: 'note', at })).record.notes, 1)
  assert.deepEqual([offered, started], [[2, 2], 2])
})

test('an end on disk counts although its commit was refused', async (t) => {
  const storage = await temporaryStorage(t)
  const advance: typeof storage.actors.advance = async (transition) => {
    await storage.actors.advance(transition)
    throw full
  }
  const supervisor = superviseSamples(t, {
    storage: withActors(storage, { advance }),
    effects: { work: heldEffect().effect },
  })
  await supervisor.spawn('err-1')
  await assert.rejects(supervisor.send('err-1', { type: 'finish', at }), { code: 'commit_failed' })

  const receipt = await supervisor.send('err-1', { type: 'note', at })

  assert.deepEqual([receipt.applied, receipt.record.status], [false, 'done'])
  assert.equal(storage.actors.get('err-1')?.parked, null)
})

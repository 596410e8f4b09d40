// What viewers see of actors, and that they see it after its commit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Inspected } from '../../src/supervisor/inspection.ts'
import {
  eventually,
  heldEffect,
  instant,
  superviseSamples,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'

const at = instant

/** In one line. */
function summaryOf(seen: Inspected): string {
  if (seen.type === 'effect')
    return `${seen.effect.name} ${seen.effect.outcome} ${seen.effect.code ?? ''}`.trim()
  if (seen.type !== 'transition') return `${seen.type} ${seen.event} in ${seen.from}`
  const edges = seen.microsteps.map(({ event, from, to }) => `${from} -${event}-> ${to}`)
  return `${seen.event}: ${seen.from} to ${seen.to}${seen.isFinal ? ' (final)' : ''}; ${edges}`
}

test('a viewer sees transitions with their edges, events without effect, and effects', async (t) => {
  const work = heldEffect()
  const { spawn, send, inspect } = superviseSamples(t, {
    storage: await temporaryStorage(t),
    effects: { work: work.effect },
  })
  const seen: Inspected[] = []
  inspect((each) => seen.push(each))

  await spawn('err-1')
  await work.started
  await send('err-1', { type: 'note', at })
  await send('err-1', { type: 'dance', at })
  await send('err-1', { type: 'explode', at }).catch(() => undefined)
  await send('err-1', { type: 'cancel', at })
  await eventually('the end', () => seen.some((each) => each.type === 'transition' && each.isFinal))

  assert.deepEqual(seen.map(summaryOf), [
    'created: null to working; ',
    'work started',
    'note: working to working; working -note-> working',
    'ignored dance in working',
    'rejected explode in working',
    'work aborted',
    'cancel: working to cleaning; working -cancel-> cleaning',
    'clean started',
    'clean done',
    'clean.done: cleaning to canceled (final); cleaning -clean.done-> canceled',
  ])
  assert.deepEqual([...new Set(seen.map(({ id, kind }) => `${kind} ${id}`))], ['sample err-1'])
})

test('a failed effect is shown with its code, not with its message', async (t) => {
  const work = async () => {
    throw Object.assign(new Error('a secret'), { code: 'build_failed' })
  }
  const { spawn, inspect } = superviseSamples(t, { storage: await temporaryStorage(t), effects: { work } })
  const seen: Inspected[] = []
  inspect((each) => seen.push(each))
  await spawn('err-1')
  await eventually('the end', () => seen.some((each) => each.type === 'transition' && each.isFinal))
  assert.ok(seen.map(summaryOf).includes('work failed build_failed'), JSON.stringify(seen))
  assert.doesNotMatch(JSON.stringify(seen), /a secret/)
})

test('a transition is shown after its commit, and not at all if that fails', async (t) => {
  const storage = await temporaryStorage(t)
  const work = heldEffect()
  const { spawn, send, inspect } = superviseSamples(t, { storage, effects: { work: work.effect } })
  await spawn('err-1')
  const seen: string[] = []
  inspect((each) => {
    if (each.type !== 'transition') return
    seen.push(`${each.event} with ${storage.actors.record('err-1')?.notes} notes`)
  })
  await send('err-1', { type: 'note', at })
  const advance = storage.actors.advance.bind(storage.actors)
  storage.actors.advance = () => Promise.reject(new Error('full'))
  await send('err-1', { type: 'note', at }).catch(() => undefined)
  storage.actors.advance = advance
  assert.deepEqual(seen, ['note with 1 notes'])
})

test('a viewer that leaves sees nothing more, and others still do', async (t) => {
  const { spawn, send, inspect } = superviseSamples(t, {
    storage: await temporaryStorage(t),
    effects: { work: heldEffect().effect },
  })
  const seen = { first: 0, second: 0 }
  const ends = [inspect(() => seen.first++), inspect(() => seen.second++)]
  await spawn('err-1')
  await send('err-1', { type: 'note', at })
  const before = { ...seen }
  ends[0]!()
  await send('err-1', { type: 'note', at })
  ends[1]!()
  await send('err-1', { type: 'note', at })
  assert.deepEqual(before, { first: 3, second: 3 })
  assert.deepEqual(seen, { first: 3, second: 4 })
})

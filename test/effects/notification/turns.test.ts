// The turns of messages: a few per minute, and then one for all that wait. The clock is the test's.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Folded } from '../../../machines/notification.ts'
import { Turns } from '../../../src/effects/notification/turns.ts'
import type { Storage } from '../../../storage/index.ts'
import { noticeOf } from '../../support/channels/notifications.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'

async function start(t: TestContext) {
  const storage: Pick<Storage, 'actors'> = await temporaryStorage(t)
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_780_000_000_000 })
  const turns = new Turns(storage)
  const granted = new Map<string, Folded | null>()
  const controllers = new Map<string, AbortController>()
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    turns,
    granted,
    settle,
    async ask(id: string, tries = 0): Promise<void> {
      const controller = new AbortController()
      controllers.set(id, controller)
      const request = { id, channelId: 'chn-1', notice: noticeOf({ title: id }), tries }
      void turns.take(request, controller.signal).then(
        (folded) => granted.set(id, folded),
        () => undefined,
      )
      await settle()
    },
    leave: (id: string) => controllers.get(id)!.abort(),
    async pass(ms: number): Promise<void> {
      t.mock.timers.tick(ms)
      await settle()
    },
  }
}

test('four messages go at once, and a minute later one takes along all that wait', async (t) => {
  const { ask, granted, pass } = await start(t)
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) await ask(id)
  assert.deepEqual([...granted.keys()], ['a', 'b', 'c', 'd'])
  await pass(59_000)
  assert.equal(granted.size, 4)
  await pass(1000)
  assert.deepEqual([...granted.keys()], ['a', 'b', 'c', 'd', 'e'])
  const { ids, problems, titles } = granted.get('e')!
  assert.deepEqual([ids, problems, titles], [['f', 'g', 'h', 'i', 'j'], 5, ['f', 'g', 'h', 'i', 'j']])
  await pass(120_000)
  assert.equal(granted.size, 5)
})

test('what may have arrived is neither taken along, nor takes others along', async (t) => {
  const { ask, granted, pass } = await start(t)
  for (const id of ['a', 'b', 'c', 'd']) await ask(id)
  for (const id of ['old-1', 'old-2']) await ask(id, 1)
  for (const id of ['e', 'f', 'g', 'h']) await ask(id)
  await pass(60_000)
  assert.deepEqual([granted.get('old-1'), granted.get('old-2')], [null, null])
  assert.deepEqual(granted.get('e')!.ids, ['f', 'g', 'h'])
})

test('a message whose turn was not committed gives back what it took along', async (t) => {
  const { ask, granted, leave, pass } = await start(t)
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) await ask(id)
  await pass(60_000)
  assert.deepEqual(granted.get('e')!.ids, ['f', 'g', 'h', 'i'])
  leave('f')
  await ask('e')
  await pass(60_000)
  const all = [...granted].flatMap(([id, folded]) => [id, ...(folded?.ids ?? [])])
  for (const id of ['e', 'g', 'h', 'i']) assert.ok(all.includes(id), id)
  assert.ok(granted.size > 5)
})

test('a clock that is set back does not keep messages back', async (t) => {
  const { ask, granted, turns } = await start(t)
  for (const id of ['a', 'b', 'c', 'd']) await ask(id)
  t.mock.timers.setTime(1_700_000_000_000)
  await ask('e')
  assert.ok(turns)
  assert.deepEqual([...granted.keys()], ['a', 'b', 'c', 'd', 'e'])
})

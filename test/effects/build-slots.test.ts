// Build slots: never more than there are, first come first served, and none is lost to somebody who left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBuildSlots } from '../../src/effects/build-slots.ts'

const nobody = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('as many as there are slots build at once, the next ones wait and are told how many build', async () => {
  const slots = createBuildSlots(2)
  const told: number[] = []
  const onWait = (running: number) => void told.push(running)
  const [first] = await Promise.all([slots.take(nobody, onWait), slots.take(nobody, onWait)])
  let third: (() => void) | null = null
  const waiting = slots.take(nobody, onWait).then((giveBack) => (third = giveBack))
  await turn()
  assert.deepEqual([told, third], [[2], null])

  first!()

  await waiting
  assert.notEqual(third, null)
})

test('whoever waits longest is next', async () => {
  const slots = createBuildSlots(1)
  const order: string[] = []
  const build = async (name: string) => {
    const giveBack = await slots.take(nobody, () => undefined)
    order.push(name)
    await turn()
    giveBack()
  }

  await Promise.all(['a', 'b', 'c', 'd'].map(build))

  assert.deepEqual(order, ['a', 'b', 'c', 'd'])
})

test('a slot that is given back twice is one slot', async () => {
  const slots = createBuildSlots(1)
  const giveBack = await slots.take(nobody, () => undefined)
  giveBack()
  giveBack()
  await slots.take(nobody, () => undefined)
  let isFree = false

  void slots.take(nobody, () => undefined).then(() => (isFree = true))

  await turn()
  assert.equal(isFree, false)
})

test('who is aborted while waiting leaves the queue and takes nothing with it', async () => {
  const slots = createBuildSlots(1)
  const giveBack = await slots.take(nobody, () => undefined)
  const leaving = new AbortController()
  const left = slots.take(leaving.signal, () => undefined)
  const next = slots.take(nobody, () => undefined)
  const reason = new Error('canceled')

  leaving.abort(reason)

  await assert.rejects(left, reason)
  giveBack()
  await next
})

test('who is aborted already does not even wait', async () => {
  const slots = createBuildSlots(1)
  await assert.rejects(
    slots.take(AbortSignal.abort(new Error('canceled')), () => assert.fail('it waited')),
    /canceled/,
  )
  await slots.take(nobody, () => assert.fail('a slot was lost'))
})

test('an abort after the slot was taken gives nothing back by itself', async () => {
  const slots = createBuildSlots(1)
  const controller = new AbortController()
  await slots.take(controller.signal, () => undefined)
  controller.abort()
  let isFree = false
  void slots.take(nobody, () => undefined).then(() => (isFree = true))
  await turn()
  assert.equal(isFree, false)
})

const step = fc.oneof(
  fc.constant({ do: 'take' as const }),
  fc.record({ do: fc.constant('giveBack' as const), which: fc.nat(20) }),
  fc.record({ do: fc.constant('abort' as const), which: fc.nat(20) }),
)

test('whatever comes and goes, never more than N build, in order, and all slots come back', async () => {
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step), async (count, steps) => {
    const slots = createBuildSlots(count)
    const building: (() => void)[] = []
    const begun: number[] = []
    const signals: AbortController[] = []
    for (const one of steps) {
      if (one.do === 'giveBack') building.splice(one.which % (building.length || 1), 1)[0]?.()
      if (one.do === 'abort') signals[one.which]?.abort()
      if (one.do === 'take') {
        const number = signals.push(new AbortController()) - 1
        const began = (giveBack: () => void) => {
          begun.push(number)
          building.push(giveBack)
        }
        slots.take(signals[number]!.signal, () => undefined).then(began, () => undefined)
      }
      await turn()
      assert.ok(building.length <= count)
    }
    for (const controller of signals) controller.abort()
    await turn()
    for (const giveBack of building) giveBack()
    assert.deepEqual(
      begun,
      [...begun].sort((a, b) => a - b),
    )
    for (let free = 0; free < count; free++) await slots.take(nobody, () => assert.fail('a slot was lost'))
  })
  await fc.assert(property, { numRuns: 200 })
})

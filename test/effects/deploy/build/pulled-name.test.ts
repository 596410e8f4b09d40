// The lock on the name of a pull, without Docker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPulledName } from '../../../../src/effects/deploy/build/pull.ts'

const forever = new AbortController().signal

test('a name has one holder at a time, in order of request; other names are free', async () => {
  const steps: string[] = []
  const enter = (who: string, name: string) => {
    let leave = () => {}
    const held = new Promise<void>((resolve) => {
      leave = resolve
    })
    const done = withPulledName(name, forever, async () => {
      steps.push(`${who} begins`)
      await held
      steps.push(`${who} ends`)
    })
    return { leave, done }
  }

  const [ada, bob, cyd, dan] = [enter('ada', 'a'), enter('bob', 'a'), enter('cyd', 'a'), enter('dan', 'b')]
  for (const one of [cyd, bob, dan]) one.leave()
  await dan.done
  ada.leave()
  await Promise.all([ada.done, bob.done, cyd.done])

  assert.deepEqual(steps, [
    'ada begins',
    'dan begins',
    'dan ends',
    'ada ends',
    'bob begins',
    'bob ends',
    'cyd begins',
    'cyd ends',
  ])
})

test('a waiter that gives up leaves the queue, and a failed holder admits the next one', async () => {
  let fail = (_: Error) => {}
  const first = withPulledName('a', forever, () => new Promise<void>((_, reject) => (fail = reject)))
  const abort = new AbortController()
  const second = withPulledName('a', abort.signal, async () => assert.fail('it was aborted'))
  let isThirdIn = false
  const third = withPulledName('a', forever, async () => {
    isThirdIn = true
  })

  abort.abort(new Error('canceled'))
  await assert.rejects(second, /^Error: canceled$/)
  assert.equal(isThirdIn, false, 'the first still has it')
  fail(new Error('no such image'))
  await assert.rejects(first, /no such image/)
  await third

  assert.equal(isThirdIn, true)
})

test('after a waiter gave up, the next one still waits for the holder', async () => {
  const steps: string[] = []
  let leave = () => {}
  const held = new Promise<void>((resolve) => {
    leave = resolve
  })
  const first = withPulledName('a', forever, () => held.then(() => void steps.push('first ends')))
  const abort = new AbortController()
  const second = withPulledName('a', abort.signal, async () => assert.fail('it was aborted'))
  abort.abort(new Error('canceled'))
  await assert.rejects(second, /^Error: canceled$/)

  const third = withPulledName('a', forever, async () => void steps.push('third begins'))
  const other = withPulledName('b', forever, async () => void steps.push('other begins'))
  await other
  leave()
  await Promise.all([first, third])

  assert.deepEqual(steps, ['other begins', 'first ends', 'third begins'])
})

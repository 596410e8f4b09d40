import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whenBuildsIdle } from '../../../src/docker/build/build.ts'

test('the work runs before the first build and after the last one, never during one', async () => {
  const events: string[] = []
  const run = whenBuildsIdle(async () => {
    events.push('work begins')
    await Promise.resolve()
    events.push('work ends')
  })
  const ends = new Map<string, () => void>()
  const begin = (name: string) =>
    run(async () => {
      events.push(`${name} begins`)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      events.push(`${name} ends`)
    })

  const [first, second] = [begin('first'), begin('second')]
  await turns()
  ends.get('first')?.()
  await first
  ends.get('second')?.()
  await second

  const work = ['work begins', 'work ends']
  assert.deepEqual(events, [...work, 'first begins', 'second begins', 'first ends', 'second ends', ...work])
})

test('a build that arrives during the work waits for it', async () => {
  const events: string[] = []
  let finish = () => {}
  const run = whenBuildsIdle(async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    events.push('work')
  })

  const building = run(async () => void events.push('build'))
  await turns()
  const before = [...events]
  finish()
  await turns()
  finish()
  await building

  assert.deepEqual(before, [])
  assert.deepEqual(events, ['work', 'build', 'work'])
})

test('failed work does not fail a build, and a build failure is not hidden', async () => {
  let attempts = 0
  const run = whenBuildsIdle(async () => {
    attempts++
    throw new Error('the work failed')
  })

  assert.equal(await run(async () => 'image'), 'image')
  await assert.rejects(
    run(() => Promise.reject(new Error('the build failed'))),
    /the build failed/,
  )
  assert.equal(attempts, 4)
})

/** Everything that waits for nothing but its turn has had it afterwards. */
function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

// Which operations are canceled when a disk becomes too full during their writes. Needs root, to mount
// small disks.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { DiskWatch } from '../../../src/effects/disk/disk-watch.ts'
import { eventually } from '../../support/supervisor/supervision.ts'
import { long } from '../../support/system/drill-size.ts'
import { fillDisk, smallDisk } from '../../support/system/small-disk.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root, to mount a small disk'
const never = new AbortController().signal
const neededMb = 16

/** Starts operations that end on request or are canceled. */
function openWatch(minFreeDiskMb = neededMb) {
  const watch = new DiskWatch(minFreeDiskMb)
  return {
    start(what: string, ...directories: string[]) {
      const state = { outcome: 'running', finish: () => {} }
      const work = (signal: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('ended by its signal')))
          state.finish = resolve
        })
      watch.guard({ what, directories }, never, work).then(
        () => {
          state.outcome = 'done'
        },
        (error: Error & { code: string }) => {
          state.outcome = `${error.code}: ${error.message}`
        },
      )
      return state
    },
  }
}

test('work that writes to a full disk is canceled with the path, the free and the needed space', {
  skip,
}, async (t) => {
  const disk = smallDisk(t, 64)
  const { start } = openWatch()
  const operation = start('a build', join(disk, 'absent'), disk)
  await wait(2500)
  assert.equal(operation.outcome, 'running')

  fillDisk(disk, neededMb - 4)

  await eventually('it to be canceled', () => operation.outcome !== 'running')
  const words = 'has 12 MiB free, a build needs 16 MiB (--min-free-disk)'
  assert.equal(operation.outcome, `insufficient_storage: canceled: ${disk} ${words}`)
})

long(
  'work on other disks continues, and so does older work if ending the youngest helps',
  {
    skip,
  },
  async (t) => {
    const [full, other] = [smallDisk(t, 64), smallDisk(t, 64)]
    const { start } = openWatch()
    const older = start('a fetch', full)
    const elsewhere = start('a pull', other)
    const youngest = start('a build', other, full)
    const empty = fillDisk(full, neededMb - 4)

    await eventually('the youngest to be canceled', () => youngest.outcome !== 'running')
    empty()
    await wait(7000)

    assert.match(youngest.outcome, /^insufficient_storage: .* a build needs/)
    assert.deepEqual([older.outcome, elsewhere.outcome], ['running', 'running'])
    older.finish()
    await eventually('its end', () => older.outcome === 'done')
  },
)

long('if ending it does not help, the next one follows', { skip }, async (t) => {
  const disk = smallDisk(t, 64)
  const { start } = openWatch()
  const older = start('a fetch', disk)
  const youngest = start('a build', disk)
  fillDisk(disk, neededMb - 4)

  await eventually('the youngest to be canceled', () => youngest.outcome !== 'running')
  assert.equal(older.outcome, 'running')
  await eventually('the older one to be canceled', () => older.outcome !== 'running')
})

test('when hardly any space is left, all work on that disk is canceled immediately', { skip }, async (t) => {
  const disk = smallDisk(t, 64)
  const { start } = openWatch()
  const operations = ['a fetch', 'a build', 'a backup'].map((what) => start(what, disk))
  fillDisk(disk, 1)

  await eventually('the first to be canceled', () => operations.some(({ outcome }) => outcome !== 'running'))
  await wait(100)
  for (const { outcome } of operations) assert.match(outcome, /^insufficient_storage/)
})

test('without a threshold nothing is watched', { skip }, async (t) => {
  const disk = smallDisk(t, 16)
  const operation = openWatch(0).start('a build', disk)
  fillDisk(disk)
  await wait(2500)
  assert.equal(operation.outcome, 'running')
})

// The change feed: numbers only rise, and a reader that is too far behind is detected.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { type Change, createChanges } from '../../../storage/store/changes.ts'
import { openStore, type Store } from '../../../storage/store/store.ts'
import { openTestStore } from '../../support/storage/store-fixtures.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

const change = { kind: 'deploy', id: 'dep-1', service_id: 'svc-1', status: 'live', transition: null }

function announce(store: Store, ...revisions: number[]): Promise<void> {
  return store.commit((commit) => {
    for (const revision of revisions) commit.announce({ ...change, revision })
  })
}

test('a follower receives every change after its commit, once, in order, without gaps', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  const heard: Change[] = []
  const unsubscribe = store.changes.subscribe((one) => heard.push(one))
  await Promise.all(Array.from({ length: 50 }, (_, index) => announce(store, index * 2, index * 2 + 1)))
  unsubscribe()

  await announce(store, 100)

  deepEqual(
    heard,
    Array.from({ length: 100 }, (_, index) => ({ ...change, revision: index, number: index + 1 })),
  )
  equal(store.changes.head(), 101)
})

test('a follower that reads the row finds the state of the change', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  const rows = store.table<number>('rows')
  const seen: (number | null)[] = []
  store.changes.subscribe(() => seen.push(rows.get('row')))
  for (const revision of [1, 2, 3]) {
    await store.commit((commit) => {
      rows.put('row', revision)
      commit.announce({ ...change, revision })
    })
  }

  deepEqual(seen, [1, 2, 3])
})

test('a follower that reconnects gets exactly the missed changes', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  await announce(store, 1, 2, 3)

  const missed = (after: number) => store.changes.since(after)?.map(({ number }) => number)

  deepEqual([missed(0), missed(1), missed(3)], [[1, 2, 3], [2, 3], []])
})

test('a number from the future is unknown: the follower has to read everything again', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  await announce(store, 1)

  equal(store.changes.since(2), null)
})

test('numbering continues after the store is reopened, and earlier changes are unknown', async (t) => {
  const directory = temporaryDirectory(t)
  const first = openStore(directory, { onPanic: t.assert.fail })
  await announce(first, 1, 2, 3)
  await first.close()

  const second = openTestStore(t, directory)
  const [head, old, newest] = [second.changes.head(), second.changes.since(2), second.changes.since(3)]
  await announce(second, 4)

  deepEqual([head, old, newest], [3, null, []])
  deepEqual(second.changes.since(3), [{ ...change, revision: 4, number: 4 }])
})

test('a refused commit uses no number', async (t) => {
  const store = openTestStore(t, temporaryDirectory(t))
  await announce(store, 1)
  await store
    .commit((commit) => {
      commit.announce({ ...change, revision: 2 })
      throw new Error('half way')
    })
    .catch(() => undefined)
  await announce(store, 3)

  deepEqual(
    store.changes.since(0)?.map(({ number, revision }) => [number, revision]),
    [
      [1, 1],
      [2, 3],
    ],
  )
})

test('the memory is limited to the newest changes, and reports where it starts', () => {
  const { advance, publish, feed } = createChanges(0)
  for (let revision = 1; revision <= 20_000; revision++) {
    publish([{ ...change, revision, number: advance(1) }])
  }

  const known = (after: number) => feed.since(after)?.length ?? null

  deepEqual([known(20_000), known(20_000 - 4096), known(0)], [0, 4096, null])
  const oldest = Array.from({ length: 20_000 }, (_, after) => after).find((after) => known(after) !== null)!
  equal(known(oldest), 20_000 - oldest)
})

test('a listener that throws does not block the others, and the error ends the process', () => {
  const program = `
    import { createChanges } from '${new URL('../../../storage/store/changes.ts', import.meta.url)}'
    const { publish, feed } = createChanges(0)
    feed.subscribe(() => {
      throw new Error('a bug of the listener')
    })
    feed.subscribe(({ number }) => console.log('heard', number))
    publish([{ number: 1 }])
    console.log('published')
  `
  const options = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { status, stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' })

  deepEqual([status, stdout], [1, 'heard 1\npublished\n'])
  match(stderr, /a bug of the listener/)
})

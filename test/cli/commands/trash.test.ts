// `berth trash` and `berth disks`: what is listed, how an entry is named, what is asked of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datastore, startFakeDatastores, trashEntry } from '../../support/cli/fake-datastores.ts'
import type { FakeResponse, ReceivedRequest } from '../../support/cli/fake-server.ts'

const disk = trashEntry('berth-svc-1', {
  id: 'dsk-1',
  kind: 'disk',
  datastore_kind: null,
  version: null,
  service_name: 'web',
  size_bytes: null,
})
const twins = [trashEntry('twin', { id: 'dst-1' }), trashEntry('twin', { id: 'dst-2' })]
const entries = [trashEntry('shop-db'), disk, ...twins]
const disks = [
  { name: 'berth-svc-1', service_id: 'svc-1', service_name: 'web', kept: true },
  { name: 'berth-svc-2', service_id: 'svc-2', service_name: 'api', kept: false },
]

function answer({ method, path, body }: ReceivedRequest): FakeResponse {
  if (path.endsWith('/trash')) return { body: entries }
  if (path.endsWith('/disks')) return { body: disks }
  if (method === 'DELETE') return { status: 204, body: '' }
  if (method === 'GET') return { body: datastore('shop-db') }
  if (path.includes('dsk-1')) return { body: { id: 'dsk-1', kind: 'disk', name: 'berth-svc-1' } }
  const name = (body as { name?: string }).name ?? 'shop-db'
  return { body: { id: 'dst-shop-db', kind: 'datastore', name } }
}

test('trash lists deleted data with its kind, size and remaining time', async (t) => {
  const { berth } = await startFakeDatastores(t, answer)
  const { code, stdout } = await berth('trash')
  assert.equal(code, 0)
  assert.match(stdout, /^ID +NAME +WAS +SIZE +DELETED +KEPT FOR$/m)
  assert.match(stdout, /^dst-shop-db +shop-db +postgres 17 +\S+ \S+ +2h\S* ago +2d/m)
  assert.match(stdout, /^dsk-1 +berth-svc-1 +disk of web +2h/m)
  assert.deepEqual(JSON.parse((await berth('trash', 'ls', '--json')).stdout), entries)
})

test('trash restore waits until the datastore is available, under another name if specified', async (t) => {
  const { berth, asked } = await startFakeDatastores(t, answer)
  const { code, stdout, stderr } = await berth('trash', 'restore', 'shop-db', '--name', 'old-db')
  assert.equal(code, 0, stderr)
  assert.match(stderr, / ✔ restoring +shop-db/)
  assert.match(stdout, /^status +available$/m)
  assert.deepEqual(asked(), [
    ['GET', '/trash', undefined],
    ['POST', '/trash/dst-shop-db/restore', { name: 'old-db' }],
    ['GET', '/datastores/dst-shop-db', undefined],
  ])
})

test('a disk is found by the name of its service, and attached again', async (t) => {
  const { berth, asked } = await startFakeDatastores(t, answer)
  const { code, stderr } = await berth('trash', 'restore', 'web')
  assert.equal(code, 0, stderr)
  assert.match(stderr, / ✔ the disk berth-svc-1 of web was restored\n +next: berth disks/)
  assert.deepEqual(asked().at(-1), ['POST', '/trash/dsk-1/restore', {}])
})

test('a missing name ends with 3, an ambiguous one with 2 and the ids', async (t) => {
  const { berth, asked } = await startFakeDatastores(t, answer)
  for (const command of ['restore', 'purge']) {
    const none = await berth('trash', command, 'nothing')
    assert.deepEqual([none.code, none.stderr], [3, ' ✘ nothing is not in the trash\n   berth trash\n'])
    const both = await berth('trash', command, 'twin')
    assert.equal(both.code, 2)
    assert.match(both.stderr, /the trash has 2 entries with that name\n +dst-1, dst-2/)
  }
  assert.ok(asked().every(([method]) => method === 'GET'))
  assert.equal((await berth('trash', 'purge', 'dst-2', '--yes')).code, 0)
  assert.deepEqual(asked().at(-1), ['DELETE', '/trash/dst-2', undefined])
})

test('disks lists disks, and disks rm prints until when the data stays', async (t) => {
  const { berth, asked } = await startFakeDatastores(t, answer)
  const { stdout } = await berth('disks')
  assert.match(stdout, /^berth-svc-1 +web +kept, no service uses it$/m)
  assert.match(stdout, /^berth-svc-2 +api +in use$/m)

  const { code, stderr } = await berth('disks', 'rm', 'berth-svc-1', '--yes')

  assert.equal(code, 0)
  assert.match(stderr, /its data stays in the trash for 2d?.*\n +undo: berth trash restore dsk-1\n$/)
  assert.deepEqual(asked().at(-2), ['DELETE', '/disks/berth-svc-1', undefined])
  assert.equal((await berth('disks', 'rm', 'berth-svc-1')).code, 2)
  await berth('disks', 'rm', 'berth-svc-1', '--yes', '--purge')
  assert.ok(asked().some(([method, path]) => method === 'DELETE' && path === '/disks/berth-svc-1?purge=true'))
})

const changed = {
  id: 'own-1',
  service_id: 'svc-2',
  disk: 'berth-svc-2',
  owner: null,
  uid: 1000,
  gid: 1001,
  status: 'succeeded',
  error: null,
}

/** A change of owner that is over at the second look. */
function chownAnswer(outcome: object) {
  let looks = 0
  return (request: ReceivedRequest): FakeResponse => {
    const { method, path } = request
    if (path.endsWith('/services/api')) {
      return { body: { id: 'svc-2', name: 'api', disk_mount_path: '/data' } }
    }
    if (path.endsWith('/services/new'))
      return { body: { id: 'svc-3', name: 'new', disk_mount_path: '/data' } }
    if (!path.endsWith('/chown')) return answer(request)
    const isOver = method === 'GET' && ++looks > 1
    return { body: isOver ? { ...changed, ...outcome } : { ...changed, status: 'running', uid: null } }
  }
}

test('disks chown names a disk by its path or name, and waits for its new owner', async (t) => {
  const { berth, asked } = await startFakeDatastores(t, chownAnswer({}))

  const { code, stderr } = await berth('disks', 'chown', 'api', '/data')

  assert.equal(code, 0, stderr)
  assert.match(stderr, /✔ all files of berth-svc-2 belong to 1000:1001/)
  const requests = asked().filter(([, path]) => String(path).endsWith('/chown'))
  assert.deepEqual(requests[0], ['POST', '/disks/berth-svc-2/chown', {}])
  assert.equal(requests.length, 3)
  const named = await berth('disks', 'chown', 'api', 'berth-svc-2', 'node:staff', '--json')
  assert.equal(JSON.parse(named.stdout).id, 'own-1')
  assert.ok(asked().some(([, , body]) => JSON.stringify(body) === '{"owner":"node:staff"}'))
})

test('a failed change of owner is reported with its hint, an unknown disk before it begins', async (t) => {
  const failed = {
    status: 'failed',
    error: 'read-only',
    hint: 'try again: berth disks chown api berth-svc-2',
  }
  const { berth, asked } = await startFakeDatastores(t, chownAnswer(failed))
  const { code, stderr } = await berth('disks', 'chown', 'api', '/data')
  assert.equal(code, 1)
  assert.match(stderr, /berth-svc-2: read-only\n.*try again: berth disks chown api berth-svc-2/)

  const before = asked().length
  const other = await berth('disks', 'chown', 'api', '/other')
  assert.match(other.stderr, /the disk of api is berth-svc-2 at \/data, not \/other/)
  const none = await berth('disks', 'chown', 'new', '/data')
  assert.match(none.stderr, /new has no disk yet: a deploy creates it/)
  assert.ok(
    asked()
      .slice(before)
      .every(([method]) => method === 'GET'),
  )
})

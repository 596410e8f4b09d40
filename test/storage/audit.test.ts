// The stored audit log: bounded by number and by age, read by its keys, and completed without a second entry.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../storage/audit.ts'
import type { Storage } from '../../storage/index.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

const dayMs = 24 * 60 * 60 * 1000

function entryOf({ audit }: Storage, fields: Partial<AuditEntry> = {}): AuditEntry {
  const actor = { kind: 'token', id: 'tok-1', name: 'ci' } as const
  const subject = { kind: 'service', id: 'svc-1', name: 'shop' }
  return { ...audit.newEntry(), actor, action: 'service.change', subject, ...fields }
}

const idsOf = ({ audit }: Storage) => audit.page({ limit: 1000 }).records.map(({ id }) => id)

test('an entry that is completed stays one entry, also when its subject becomes known', async (t) => {
  const storage = await temporaryStorage(t)
  const begun = entryOf(storage, { subject: { kind: 'service', id: null, name: 'shop' } })
  const done = {
    ...begun,
    subject: { kind: 'service', id: 'svc-1', name: 'shop' },
    status: 201,
    service_id: 'svc-1',
  }
  await storage.audit.write(begun)
  await storage.audit.write(done, begun)

  assert.deepEqual(storage.audit.page({ limit: 10 }).records, [done])
})

test('names are cut to what a key may have', async (t) => {
  const storage = await temporaryStorage(t)
  const long = '€'.repeat(5000)
  const subject = { kind: 'service', id: long, name: long }
  await storage.audit.write(entryOf(storage, { actor: { kind: 'token', id: long, name: long }, subject }))

  const [kept] = storage.audit.page({ limit: 1 }).records
  assert.deepEqual(kept?.subject, { kind: 'service', id: long.slice(0, 100), name: long.slice(0, 100) })
})

test('entries older than the retention go, and nothing else', async (t) => {
  const storage = await temporaryStorage(t)
  const [old, young] = [entryOf(storage), entryOf(storage)]
  const past = (entry: AuditEntry, id: string) => ({ ...entry, id })
  await storage.audit.write(past(old, 'aud-01arz3ndektsv4rrffq69g5fav'))
  await storage.audit.write(young)

  await storage.audit.trim()
  assert.deepEqual(idsOf(storage), [young.id])
  await storage.audit.trim(Date.now() + 364 * dayMs)
  assert.deepEqual(idsOf(storage), [young.id])
  await storage.audit.trim(Date.now() + 366 * dayMs)
  assert.deepEqual(idsOf(storage), [])
})

test('an actor with many entries pushes out its own, not those of others', async (t) => {
  const storage = await temporaryStorage(t)
  const write = async (id: string, count: number) => {
    for (let at = 0; at < count; at++)
      await storage.audit.write(entryOf(storage, { actor: { kind: 'token', id, name: id } }))
  }
  const countOf = (actor: string) => storage.audit.page({ limit: 1000, actor }).records.length
  await write('calm', 8)
  await write('busy', 100)
  const newest = storage.audit.page({ limit: 1 }).records

  await storage.audit.trim(Date.now(), 40)

  assert.deepEqual([countOf('calm'), countOf('busy')], [8, 10])
  assert.deepEqual(storage.audit.page({ limit: 1 }).records, newest)
  for (const id of ['a', 'b', 'c']) await write(id, 9)
  await storage.audit.trim(Date.now(), 40)
  assert.deepEqual([countOf('calm'), countOf('busy'), countOf('c')], [3, 10, 9])
})

test('a command on the host is done when its commit is', async (t) => {
  const storage = await temporaryStorage(t)
  const subject = { kind: 'account', id: 'usr-1', name: 'ada@example.com' }
  await storage.commit(() => storage.audit.putHostCommand({ action: 'account.reset_password', subject }))

  const [entry] = storage.audit.page({ limit: 1, actor: 'host', subject: 'ada@example.com' }).records
  assert.deepEqual([entry?.actor.kind, entry?.finished_at], ['host', entry?.at])
})

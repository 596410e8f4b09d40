// Data directories that earlier versions wrote: this version opens each of them and loses nothing.
import { deepEqual } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { catalogue } from '../../machines/index.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { endlessEffects } from '../support/storage/parked-kinds.ts'
import { readView, type StorageView } from '../support/storage/storage-view.ts'
import { silentLogger, stopBeforeClose, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const folder = join(import.meta.dirname, '../fixtures/data')
const versions = readdirSync(folder).flatMap((name) => /^(.+)\.tar\.gz$/.exec(name)?.[1] ?? [])

/** What earlier versions kept, and this one no longer reads. */
const removedParts = [
  ['certificates', 'issued'],
  ['certificates', 'pauses'],
] as const

/** The storage of that version, and the contents that the version itself read. */
async function openData(
  t: TestContext,
  version: string,
): Promise<{ storage: Storage; written: StorageView }> {
  const directory = temporaryDirectory(t)
  execFileSync('tar', ['--extract', '--gzip', '--file', join(folder, `${version}.tar.gz`), '-C', directory])
  const written = JSON.parse(readFileSync(join(directory, 'view.json'), 'utf8'))
  for (const [part, field] of removedParts) delete written[part]?.[field]
  return { storage: await temporaryStorage(t, join(directory, 'data')), written }
}

const idsOf = ({ actors }: StorageView) => actors.shown.map(({ id }) => id)

function superviseAll(t: TestContext, storage: Storage): Supervisor {
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger })
  supervisor.provide(endlessEffects())
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  return supervisor
}

test('a fixture with data of version 0.1 exists', () => {
  deepEqual(versions.includes('0.1'), true)
})

for (const version of versions) {
  test(`a data directory of version ${version} keeps all of its data`, async (t) => {
    const { storage, written } = await openData(t, version)

    const view = await readView(storage, idsOf(written))

    deepEqual(pickKnownFields(view, written), written)
  })

  test(`the actors of version ${version} continue from their last state`, async (t) => {
    const { storage, written } = await openData(t, version)

    const { restored, parked } = await superviseAll(t, storage).restore()

    const { active, parked: parkedBefore, shown } = written.actors
    deepEqual([restored, parked], [active.length - parkedBefore.length, 0])
    const records = idsOf(written).map((id) => storage.actors.record(id))
    const before = shown.map(({ record }) => record)
    deepEqual(pickKnownFields(records, before), before)
  })
}

/** Drops the fields that an earlier version did not have. */
function pickKnownFields(value: unknown, known: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(known))
    return value.map((one, i) => pickKnownFields(one, known[i]))
  if (!isObject(value) || !isObject(known)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key in known ? [[key, pickKnownFields(inner, known[key])]] : [],
    ),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

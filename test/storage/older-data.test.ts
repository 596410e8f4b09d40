// Data directories that earlier versions wrote: this version opens each of them and loses nothing.
import { deepEqual, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { catalogue } from '../../machines/index.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { isId } from '../../storage/store/ids.ts'
import { currentSchema } from '../../storage/store/migrations.ts'
import { happyEffects } from '../support/machines/deploy-chart.ts'
import { working } from '../support/machines/job-chart.ts'
import { endlessEffects } from '../support/storage/parked-kinds.ts'
import { readView, type StorageView } from '../support/storage/storage-view.ts'
import {
  eventually,
  silentLogger,
  stopBeforeClose,
  temporaryStorage,
} from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const home = join(import.meta.dirname, '../..')
const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
const folder = join(home, 'test/fixtures/data')
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
  // The field had no effect before schema 6, which turned it off.
  if (schemaOf(version) < 6) for (const service of written.services.list) service.auto_deploy = false
  return { storage: await temporaryStorage(t, join(directory, 'data')), written }
}

const schemaOf = (version: string) => Number(/schema-(\d+)/.exec(version)![1])

const idsOf = ({ actors }: StorageView) => actors.shown.map(({ id }) => id)

function superviseAll(t: TestContext, storage: Storage, effects: Record<string, object>): Supervisor {
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger })
  supervisor.provide(effects)
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  return supervisor
}

test('there is a fixture of every schema of the store, and of every version of XState in use', () => {
  const known = versions.map((version) => /-schema-(\d+)-xstate-(.+)$/.exec(version)!.slice(1))
  const schemas = Array.from({ length: currentSchema }, (_, count) => `${count + 1}`)
  deepEqual([...new Set(known.map(([schema]) => schema))], schemas)
  ok(
    known.some(([schema, xstate]) => schema === `${currentSchema}` && xstate === dependencies.xstate),
    'run test/fixtures/data/write.ts',
  )
})

for (const version of versions) {
  test(`a data directory of version ${version} keeps all of its data`, async (t) => {
    const { storage, written } = await openData(t, version)

    const view = withoutMacs(await readView(storage, idsOf(written)))

    deepEqual(pickKnownFields(view, written), withoutMacs(written))
    const schema = schemaOf(version)
    const copies = join(storage.directory, 'store-copies')
    const kept = existsSync(copies) ? readdirSync(copies).map((name) => name.replace(/^\w+-/, '')) : []
    deepEqual(kept, schema < currentSchema ? [`schema-${schema}`] : [])
  })

  test(`the actors of version ${version} continue from their last state`, async (t) => {
    const { storage, written } = await openData(t, version)

    const { restored, parked } = await superviseAll(t, storage, endlessEffects()).restore()

    const { active, parked: parkedBefore, shown } = written.actors
    const isParked = (id: string) => parkedBefore.some((actor) => actor.id === id)
    deepEqual([restored, parked], [active.filter((id) => !isParked(id)).length, 0])
    const records = withoutMacs(idsOf(written).map((id) => storage.actors.record(id)))
    const before = shown.map(({ record }) => record)
    deepEqual(pickKnownFields(records, before), before)
  })
}

const goesOn = { deploy: happyEffects(), 'job-run': working }

for (const version of versions) {
  test(`the deploys and runs of version ${version} end`, async (t) => {
    const { storage, written } = await openData(t, version)
    const parkedIds = () => [...storage.actors.parked()].map(({ id }) => id).filter(isId)
    const parked = parkedIds()
    const kinds = Object.keys(goesOn)
    // Those with other ids were composed, without what their effects need.
    const before = written.actors.shown.filter(
      ({ row, id, record }) => kinds.includes(row.kind) && isId(id) && record.status !== 'failed',
    )

    await superviseAll(t, storage, { ...endlessEffects(), ...goesOn }).restore()

    const active = () => kinds.flatMap((kind) => [...storage.actors.active(kind)])
    await eventually('all to end', () => active().length === 0)
    const failed = before.filter(({ id }) => storage.actors.record(id)?.status === 'failed')
    deepEqual(failed, [])
    deepEqual(parkedIds(), parked)
  })
}

/** Images that were named before schema 5 have a MAC now. */
function withoutMacs<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replaceAll(/(\/\w+:dep-[0-9a-z]{26})-[a-z2-7]+/g, '$1'))
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

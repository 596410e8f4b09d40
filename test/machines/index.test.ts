// The catalogue: all kinds, under the names that storage and history use.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createActor, toPromise } from 'xstate'
import { nodesOf } from '../../machines/graph.ts'
import { catalogue, type Kind } from '../../machines/index.ts'
import { toMermaid } from '../../machines/mermaid.ts'
import { type SlotInput, type SlotOutput, slot } from '../../machines/slot.ts'

/** The slots that run again if an aborted effect before them ended late. */
const cleanups: Record<string, string[]> = {
  backup: ['discardDump', 'removeBackup'],
  certificate: ['releaseCertificate'],
  datastore: ['trashDatastore', 'removeDatastore'],
  deploy: ['removeTraces', 'drainInstances'],
  'disk-removal': ['removeDisk'],
  edge: ['stopEdge'],
  'git-connection': ['removeSecrets'],
  'job-run': ['stopRun', 'clearRun'],
  restore: ['tidyRestore', 'undoRestore'],
  'server-backup': ['discardFile', 'removeFile'],
  'service-removal': ['removeBelongings'],
  'terminal-login': ['revokeToken'],
}

for (const [name, { machine, cleanups: found = [] }] of Object.entries<Kind>(catalogue)) {
  test(`the chart of ${name} is the reviewed one, under its name, with its cleanups`, () => {
    const reviewed = readFileSync(new URL(`../fixtures/charts/${name}.mmd`, import.meta.url), 'utf8')
    assert.equal(toMermaid(machine), reviewed)
    assert.equal(machine.id, name)
    assert.deepEqual(found, cleanups[name] ?? [])
    const slots = Object.keys(machine.implementations.actors)
    assert.ok(found.every((cleanup) => slots.includes(cleanup)))
  })
}

test('every state of every chart has a short description', () => {
  const found = Object.entries<Kind>(catalogue).flatMap(([kind, { machine }]) =>
    [...nodesOf(machine.root)].map(({ path, description }) => [kind, path.join('.'), description] as const),
  )
  const isMissing = (text = '') => text.length === 0 || text.length > 80 || !text.endsWith('.')
  assert.deepEqual(
    found.filter(([, , description]) => isMissing(description)),
    [],
  )
})

test('an unimplemented slot fails immediately and names its machine', async () => {
  const actor = createActor(slot<SlotInput, SlotOutput>(), { input: { id: 'dep-1' } })
  actor.subscribe({ error: () => undefined })
  actor.start()
  await assert.rejects(toPromise(actor), { message: 'no effect was provided for a slot of dep-1' })
})

// The catalogue: all kinds, under the names that storage and history use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, type Kind } from '../../machines/index.ts'

test('each kind has the name of its chart', () => {
  const names = Object.values(catalogue).map(({ machine }) => machine.id)
  assert.deepEqual(Object.keys(catalogue), names)
  assert.ok(['deploy', 'edge', 'service-removal'].every((name) => names.includes(name)))
})

for (const [name, { machine, cleanups = [] }] of Object.entries<Kind>(catalogue)) {
  test(`the cleanups of ${name} are slots of its chart`, () => {
    const slots = Object.keys(machine.implementations.actors)
    assert.deepEqual(
      cleanups.filter((cleanup) => !slots.includes(cleanup)),
      [],
    )
  })
}

// Prerequisites of all other tests: a reachable engine, and base images that are always the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryDirectory } from '../system/directory.ts'
import { ensureEngine, pingEngine } from './engine.ts'
import { requestEngine } from './engine-request.ts'
import { baseImages } from './images.ts'

test('the configured engine responds', async () => {
  const address = await ensureEngine()

  assert.equal(await pingEngine(address), null)
})

test('an address where nothing listens is reported with the reason', async (t) => {
  const directory = temporaryDirectory(t)

  assert.equal(await pingEngine(`unix://${directory}/none.sock`), 'ENOENT')
})

test('the base images are on the engine and have no labels of the product', async () => {
  const engine = await ensureEngine()
  const images = Object.values(await baseImages())

  const responses = await Promise.all(images.map((image) => requestEngine(engine, `/images/${image}/json`)))

  const labels = responses.map(({ text }) => JSON.parse(text).Config.Labels)
  for (const found of labels) {
    assert.equal(found['berth.test'], 'base')
    assert.deepEqual([found['berth.instance'], found['berth.server']], [undefined, undefined])
  }
})

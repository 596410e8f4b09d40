// Stand-ins for the base images of recipes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MissingPrerequisite } from '../system/missing-prerequisite.ts'
import { ensureEngine } from './engine.ts'
import { requestEngine } from './engine-request.ts'
import { provideBases, readBases } from './recipe-bases.ts'

const reference = 'debian:bookworm-slim'

async function readImage(): Promise<{
  Id: string
  Config: { Labels: Record<string, string> | null }
} | null> {
  const { status, text } = await requestEngine(await ensureEngine(), `/images/${reference}/json`)
  return status === 200 ? JSON.parse(text) : null
}

test('a stand-in keeps the official tag while a test uses it', async (t) => {
  const before = await readImage()
  if (before) return t.skip(`${reference} is on the engine already`)

  const [first, second] = [await provideBases([reference]), await provideBases([reference])]
  await first.release()
  const during = await readImage()
  await second.release()

  assert.equal(during?.Config.Labels?.['berth.test'], 'base')
  assert.equal(await readImage(), null)
})

test('an image that nothing can stand in for is a missing prerequisite', async () => {
  await assert.rejects(provideBases(['localhost/berth-test/nothing:1']), MissingPrerequisite)
})

test('the bases of a Dockerfile are the images that it does not build itself', () => {
  const lines = ['FROM node:24-slim AS build', 'RUN true', 'FROM build AS more', 'FROM scratch AS site']

  assert.deepEqual(readBases([...lines, 'FROM debian:bookworm-slim'].join('\n')), [
    'node:24-slim',
    'debian:bookworm-slim',
  ])
})

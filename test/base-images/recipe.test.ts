// An image is made once, also for concurrent callers. The packages are Debian's, the store is a set.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ensureImage, type ImageStore, type Recipe } from '../../src/base-images/recipe.ts'

/** A recipe whose image does not exist yet. */
function newRecipe(): Recipe {
  return {
    repository: 'localhost/berth-test',
    name: 'recipe',
    version: 1,
    wish: { packages: ['busybox-static'] },
    extra: randomUUID(),
    settings: { Env: [], Cmd: [], Labels: {} },
    finish: async () => {},
  }
}

/** Keeps the hashes of what is loaded. */
function openStore(): ImageStore & { loaded: string[] } {
  const loaded: string[] = []
  return {
    loaded,
    has: async () => loaded.length > 0,
    load: async (archive) => void loaded.push(createHash('sha256').update(archive).digest('hex')),
  }
}

test('two concurrent requests for one image build it once', async () => {
  const [store, recipe] = [openStore(), newRecipe()]
  const layers: string[] = []
  const ensure = () => ensureImage(store, recipe, { onMake: (reference) => layers.push(reference) })

  const references = await Promise.all([ensure(), ensure()])

  assert.equal(store.loaded.length, 1)
  assert.equal(layers.length, 1)
  assert.deepEqual(references, [layers[0], layers[0]])
  assert.match(layers[0]!, /^localhost\/berth-test\/recipe:[0-9a-f]{12}$/)
})

test('a caller that gives up during a build leaves the build to the other waiters', async () => {
  const [store, recipe] = [openStore(), newRecipe()]
  const abandoning = new AbortController()
  const reason = new Error('canceled')

  const first = ensureImage(store, recipe, {
    onMake: () => abandoning.abort(reason),
    signal: abandoning.signal,
  })
  const second = ensureImage(store, recipe, { onMake: () => {} })

  const outcomes = await Promise.allSettled([first, second])
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  assert.ok(failures.every((failure) => failure === reason))
  assert.equal(store.loaded.length, 1)
})

test('an image is named after its inputs, and its bytes depend on nothing else', async () => {
  const [recipe, store] = [newRecipe(), openStore()]
  const silent = { onMake: () => {} }

  const reference = await ensureImage(store, recipe, silent)
  const again = openStore()
  const changed = [
    { ...recipe, version: 2 },
    { ...recipe, extra: 'more' },
  ]
  const others = await Promise.all(changed.map((other) => ensureImage(openStore(), other, silent)))

  assert.equal(await ensureImage(again, recipe, silent), reference)
  assert.deepEqual(again.loaded, store.loaded)
  assert.equal(new Set([reference, ...others]).size, 3)
})

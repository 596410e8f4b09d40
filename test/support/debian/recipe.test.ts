// Images from Debian's packages, in a store that keeps only their hashes.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ensureImage, type ImageStore, type Recipe } from './recipe.ts'

/** A recipe whose image does not exist yet. */
function newRecipe(): Recipe {
  return {
    name: 'recipe',
    wish: { packages: ['busybox-static'] },
    extra: randomUUID(),
    settings: { Env: [], Cmd: [], Labels: {} },
    finish: async () => {},
  }
}

function openStore(): ImageStore & { loaded: string[] } {
  const loaded: string[] = []
  return {
    loaded,
    has: async () => loaded.length > 0,
    load: async (archive) => void loaded.push(createHash('sha256').update(archive).digest('hex')),
  }
}

test('two concurrent requests build an image once, and its bytes depend on its inputs only', async () => {
  const [store, again, recipe] = [openStore(), openStore(), newRecipe()]

  const [reference, second] = await Promise.all([ensureImage(store, recipe), ensureImage(store, recipe)])

  assert.match(reference, /^localhost\/berth-test\/recipe:[0-9a-f]{12}$/)
  assert.equal(second, reference)
  assert.equal(await ensureImage(again, recipe), reference)
  assert.deepEqual([store.loaded.length, again.loaded], [1, store.loaded])
  assert.notEqual(await ensureImage(openStore(), { ...recipe, extra: 'more' }), reference)
})

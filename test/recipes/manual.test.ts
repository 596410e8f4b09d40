// The examples of the manual: each gives the recipe that its page shows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRecipe, isRefusal } from '../../src/recipes/index.ts'
import { treeOf } from '../../src/recipes/tree.ts'
import { exampleIn, manualPages, recipeIn } from '../support/http/manual.ts'

const pages = manualPages.filter((page) => Object.keys(exampleIn(page)).length > 0)

for (const page of pages) {
  test(`the example of ${page} gives the recipe that it shows`, () => {
    const tree = treeOf(exampleIn(page))
    const recipe = chooseRecipe({ top: tree, app: tree, rootDir: '' })
    if (isRefusal(recipe)) assert.fail(recipe.problem)
    const width = Math.max(...recipe.choices.map(({ what }) => what.length))
    const lines = recipe.choices.map(({ what, reason }) => `  ${what.padEnd(width)}  ${reason}\n`)
    assert.equal(recipeIn(page), [`${recipe.title}\n`, ...lines].join(''))
  })
}

test('every language has an example', () => {
  assert.ok(pages.length >= 9, pages.join())
})

// The examples of the manual, deployed: their recipes build, and their apps respond.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRecipe, isRefusal, printDockerfile } from '../../src/recipes/index.ts'
import { treeOf } from '../../src/recipes/tree.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { provideBases, readBases } from '../support/docker/recipe-bases.ts'
import { exampleIn } from '../support/http/manual.ts'

const suite = daemonSuite()

/** Those whose packages and compilers are to be had without their own registries. */
const built = ['node', 'javascript-frameworks', 'python', 'go', 'ruby', 'php']

for (const name of built) {
  test(`the example of docs/${name}.md responds`, async (t) => {
    const files = exampleIn(`docs/${name}.md`)
    const tree = treeOf(files)
    const recipe = chooseRecipe({ top: tree, app: tree, rootDir: '' })
    if (isRefusal(recipe)) assert.fail(recipe.problem)
    const bases = await provideBases(readBases(printDockerfile(recipe)))
    t.after(() => bases.release())

    const { name: service, first } = await createService(t, suite.api, files)

    assert.equal(first.status, 'live', first.error)
    const { url } = await suite.api.get(`/services/${service}`)
    const response = await fetch(url)
    assert.equal(response.status, 200)
    assert.match(await response.text(), /Hello from/)
  })
}

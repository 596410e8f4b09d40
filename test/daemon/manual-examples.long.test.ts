// The examples of the manual, deployed: their recipes build, and their apps respond.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseRecipe, isRefusal, printDockerfile } from '../../src/recipes/index.ts'
import { treeOf } from '../../src/recipes/tree.ts'
import { fetchPage } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { provideBases, readBases } from '../support/docker/recipe-bases.ts'
import { siteServerImage } from '../support/docker/server-images.ts'
import { exampleIn } from '../support/http/manual.ts'

const suite = daemonSuite({ args: [`--static-image=${await siteServerImage()}`] })

const languages = 'node javascript-frameworks bun-and-deno python go ruby php java rust'.split(' ')

for (const name of languages) {
  test(`the example of docs/${name}.md responds`, async (t) => {
    const files = exampleIn(`docs/${name}.md`)
    const tree = treeOf(files)
    const recipe = chooseRecipe({ top: tree, app: tree, rootDir: '' })
    if (isRefusal(recipe)) assert.fail(recipe.problem)
    const bases = await provideBases(readBases(printDockerfile(recipe)))
    t.after(() => bases.release())

    const { name: service, first } = await createService(t, suite.api, files)

    assert.equal(first.status, 'live', first.error)
    assert.match(await fetchPage(suite.api, service), /Hello from/)
  })
}

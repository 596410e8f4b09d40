// Public sources through the recipes: each Dockerfile is read and compared with what other tools make of the
// source, and what can be built here is built, started, and asked.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { chooseRecipe, isRefusal, printDockerfile, type Recipe, readFacts } from '../../src/recipes/index.ts'
import { type Dish, type Kitchen, openKitchen } from '../support/recipes/kitchen.ts'
import {
  joinWords,
  type Outline,
  outlineByFly,
  outlinePlan,
  outlineRecipe,
} from '../support/recipes/outline.ts'
import { findFaults } from '../support/recipes/printed.ts'
import { type Fixture, fixturesFolder, readFixtures, readPlan, skipsFixtures, treeOf } from './fixtures.ts'

const fixtures = readFixtures()
const options = { skip: skipsFixtures }
const results = new Map<string, string>()
const dishes = new Map<string, Dish>()
let kitchen: Kitchen

before(async () => {
  if (!skipsFixtures) kitchen = await openKitchen()
})
after(async () => kitchen?.close())

for (const fixture of fixtures) {
  test(`${fixture.name} is ${fixture.result}`, options, async (t) => {
    results.set(fixture.name, fixture.result)
    if (fixture.result === 'refused') await check(t, fixture, 'it is refused', () => checkRefusal(fixture))
    else await checkRecipe(t, fixture)
  })
}

/** A part that fails does not end the test of the whole. */
function check(t: TestContext, { name }: Fixture, title: string, work: () => unknown): Promise<void> {
  return t.test(title, async () => {
    const result = results.get(name) as string
    results.set(name, 'wrong')
    await work()
    results.set(name, result)
  })
}

async function checkRefusal(fixture: Fixture): Promise<void> {
  const refusal = chooseRecipe(await readFacts(treeOf(fixture)))
  assert.ok(isRefusal(refusal), 'it is refused')
  assert.ok([refusal.problem, ...refusal.apps].join('; ').includes(fixture.note), JSON.stringify(refusal))
}

async function checkRecipe(t: TestContext, fixture: Fixture): Promise<void> {
  const recipe = chooseRecipe(await readFacts(treeOf(fixture)))
  if (isRefusal(recipe)) return check(t, fixture, 'it has a recipe', () => assert.fail(recipe.problem))
  const dockerfile = printDockerfile(recipe)
  await check(t, fixture, 'its recipe is as expected', () => compareRecipe(fixture, recipe))
  await check(t, fixture, 'its Dockerfile has no fault', () => {
    assert.deepEqual(findFaults(dockerfile, { hasSite: recipe.site !== null }), [])
  })
  await check(t, fixture, 'other tools see the same in it', async () => {
    assert.deepEqual(await findDifferences(fixture, recipe), fixture.differs)
  })
  if (fixture.result === 'served') await check(t, fixture, 'it is served', () => serve(fixture, recipe))
}

function compareRecipe(fixture: Fixture, recipe: Recipe): void {
  const { runs, starts } = describe(recipe)
  assert.equal(recipe.title, fixture.title)
  assert.equal(recipe.port, fixture.port)
  if (fixture.starts !== '') assert.equal(starts, fixture.starts)
  const found = runs.filter((command) => fixture.runs.some((part) => command.includes(part)))
  const missing = fixture.runs.filter((part) => !found.some((command) => command.includes(part)))
  assert.deepEqual(missing, [], runs.join('; '))
}

function describe({ stages, site }: Recipe): { runs: string[]; starts: string } {
  const steps = stages.flatMap((stage) => stage.steps)
  const runs = steps.flatMap((step) => (step.do === 'run' ? step.command : []))
  const last = stages.at(-1)?.steps ?? []
  if (site) {
    const [from = ''] = last.flatMap((step) => (step.do === 'copy' ? step.paths : []))
    return { runs, starts: `pages ${from.replace(/^\/app\/|\/$/g, '')}` }
  }
  const words = last.flatMap((step) => (step.do === 'start' ? step.command : []))
  return { runs, starts: joinWords(words) }
}

/** As `fly builds`: what a tool says about a source, and we do not. */
async function findDifferences(fixture: Fixture, recipe: Recipe): Promise<string[]> {
  const scripts = readScripts(fixture)
  const own = outlineRecipe(recipe, scripts)
  const plan = readPlan(fixture)
  const isForFly = recipe.title.startsWith('Node.js')
  const others: Record<string, Outline | null> = {
    fly: isForFly ? await outlineByFly(treeOf(fixture), scripts) : null,
    railpack: plan && outlinePlan(plan, scripts),
  }
  return Object.entries(others).flatMap(([tool, other]) =>
    (['installer', 'builds', 'starts'] as const)
      .filter((what) => other !== null && own[what] !== other[what])
      .map((what) => `${tool} ${what}`),
  )
}

function readScripts(fixture: Fixture): Record<string, string> {
  const path = join(treeOf(fixture), 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')).scripts ?? {}) : {}
}

async function serve(fixture: Fixture, recipe: Recipe): Promise<void> {
  const { says } = fixture
  assert.ok(says, 'the table says what it says')
  if ('fails' in says) {
    const promise = kitchen.serve(treeOf(fixture), recipe, { prints: '' })
    await assert.rejects(promise, ({ message }) => message.includes(says.fails))
    return
  }
  dishes.set(fixture.name, await kitchen.serve(treeOf(fixture), recipe, says))
}

test('the summary', options, async (t) => {
  const all = [...results.values()]
  const count = (result: string) => `${all.filter((one) => one === result).length} ${result}`
  const lines = [`of ${all.length}: ${['served', 'checked', 'refused', 'wrong'].map(count).join(', ')}`]
  for (const what of ['buildSeconds', 'rebuildSeconds', 'ownMegabytes'] as const) {
    const values = [...dishes.values()].map((dish) => dish[what]).sort((a, b) => a - b)
    const at = (share: number) => values[Math.floor(values.length * share)]?.toFixed(1)
    lines.push(`${what}: median ${at(0.5)}, p90 ${at(0.9)}, at most ${values.at(-1)?.toFixed(1)}`)
  }
  for (const [name, dish] of dishes) lines.push(`${name}: ${JSON.stringify(dish)}`)
  for (const line of lines) t.diagnostic(line)
  await writeFile(join(fixturesFolder, 'figures.txt'), `${lines.join('\n')}\n`)
})

// Recipes for sources that are written down in a test.
import assert from 'node:assert/strict'
import {
  chooseRecipe,
  isRefusal,
  printDockerfile,
  type Recipe,
  type Settings,
} from '../../../src/recipes/index.ts'
import { treeOf } from '../../../src/recipes/tree.ts'

type Source = Record<string, string>

export function choose(source: Source, settings: Partial<Settings> = {}, rootDir = '') {
  const top = treeOf(source)
  return chooseRecipe({ top, app: top.in(rootDir), rootDir }, settings)
}

export function recipeOf(source: Source, settings?: Partial<Settings>, rootDir?: string): Recipe {
  const recipe = choose(source, settings, rootDir)
  if (isRefusal(recipe)) assert.fail(recipe.problem)
  return recipe
}

export function problemOf(source: Source, settings?: Partial<Settings>): string {
  const refusal = choose(source, settings)
  if (!isRefusal(refusal)) assert.fail(`there is a recipe: ${refusal.title}`)
  return refusal.problem
}

export function dockerfileOf(source: Source, settings?: Partial<Settings>, rootDir?: string): string {
  return printDockerfile(recipeOf(source, settings, rootDir))
}

/** The command of the last stage, without the shell that it may need. */
export function startOf(source: Source, settings?: Partial<Settings>): string {
  const steps = recipeOf(source, settings).stages.at(-1)?.steps ?? []
  const command = steps.find((step) => step.do === 'start')?.command ?? []
  return command[1] === '-c' ? (command[2] ?? '').replace(/^exec /, '') : command.join(' ')
}

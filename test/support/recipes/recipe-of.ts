// The recipe of a source that a test writes down, with objects for its JSON.
import assert from 'node:assert/strict'
import {
  isRefusal,
  printDockerfile,
  type Recipe,
  type Refusal,
  type Settings,
} from '../../../src/recipes/index.ts'
import { choose } from './recipes.ts'

export interface Source {
  /** Text by path; objects become JSON. */
  files: Record<string, string | object>
  rootDir?: string
  settings?: Partial<Settings>
}

function chooseFor({ files, rootDir = '', settings = {} }: Source): Recipe | Refusal {
  const texts = Object.entries(files).map(([path, file]) => [
    path,
    typeof file === 'string' ? file : JSON.stringify(file),
  ])
  return choose(Object.fromEntries(texts), settings, rootDir)
}

export function recipeOf(source: Source): Recipe {
  const recipe = chooseFor(source)
  if (isRefusal(recipe)) assert.fail(recipe.problem)
  return recipe
}

export function refusalOf(source: Source): Refusal {
  const refusal = chooseFor(source)
  if (!isRefusal(refusal)) assert.fail(printDockerfile(refusal))
  return refusal
}

/** Its instructions, without comments, empty lines, cache mounts and the label. */
export function instructionsOf(source: Source): string[] {
  return printDockerfile(recipeOf(source))
    .split('\n')
    .filter((line) => line !== '' && !/^(#|LABEL)/.test(line))
    .map((line) => line.replace(/--mount=type=cache\S* /g, ''))
}

/** `what: reason` of each choice. */
export function choicesOf(source: Source): string[] {
  return recipeOf(source).choices.map(({ what, reason }) => `${what}: ${reason}`)
}

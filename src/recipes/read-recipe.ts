// Reads a source and chooses its recipe. The daemon leaves that to a reader.
import { chooseRecipe, type Settings } from './choose.ts'
import { readFacts } from './facts.ts'
import type { Recipe, Refusal } from './recipe.ts'

export interface RecipeRequest {
  directory: string
  /** Relative to the directory, and inside it. */
  rootDir: string
  settings: Settings
}

export async function readRecipe({ directory, rootDir, settings }: RecipeRequest): Promise<Recipe | Refusal> {
  return chooseRecipe(await readFacts(directory, { rootDir }), settings)
}

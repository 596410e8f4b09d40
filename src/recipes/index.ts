// Recipes: from the facts of a source to a Dockerfile. Pure, but for reading the facts.
export { chooseRecipe, type Settings } from './choose.ts'
export { difference } from './difference.ts'
export { type Facts, readFacts } from './facts.ts'
export { printDockerfile, printIgnoreFile } from './print.ts'
export { readRecipe } from './read-recipe.ts'
export { isRefusal, type Recipe, type Refusal, recipeVersion } from './recipe.ts'

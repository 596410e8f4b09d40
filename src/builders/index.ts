// The builders, in order of precedence.
import type { Builder, BuildJob } from './builder.ts'
import { dockerfile } from './dockerfile/dockerfile.ts'
import { hostPrograms } from './host-program/host-program.ts'
import { mayUseRecipe, recipe } from './recipe/recipe.ts'
import { staticSite } from './static-site/static-site.ts'

const builders: Builder[] = [...hostPrograms, dockerfile, recipe, staticSite]

/** If none fits, the one that explains what is missing. */
export async function chooseBuilder(job: BuildJob): Promise<Builder> {
  for (const builder of builders) if (await builder.detects(job)) return builder
  return mayUseRecipe(job) ? recipe : dockerfile
}

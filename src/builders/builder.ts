// A way to make the image of a deploy from its source, and all that it gets for that.
import type { ReleaseRecipe } from '../../storage/releases.ts'
import type { ServiceSettings } from '../../storage/services.ts'
import type { BuildRequest, ImageBuilder } from '../docker/build/build.ts'
import type { Engine } from '../docker/engine/client.ts'
import type { Owner } from '../docker/engine/names.ts'
import type { Logger } from '../logger.ts'

export interface Builder {
  name: string
  detects(job: BuildJob): Promise<boolean>
  build(job: BuildJob): Promise<void>
}

export interface BuildJob extends Pick<BuildRequest, 'registries' | 'signal'> {
  deployId: string
  serviceName: string
  settings: ServiceSettings
  envKeys: string[]
  /** How the live version was built. Null without one, and if its image was pulled. */
  live: { recipe: ReleaseRecipe | null } | null
  /** The deploy's own folder, with the checkout and what Berth generates. */
  directory: string
  checkout: string
  /** What to build, */
  image: Target
  /** and a name for an intermediate image, from which the folder of a site is taken. */
  tree: Target
  /** What a Dockerfile of the user may use. Logs what it does without. */
  openInputs(): Promise<BuildInputs>
  keepRecipe(recipe: ReleaseRecipe): Promise<void>
  /** How a file that .gitignore leaves out can reach the build. */
  ignoredFileAdvice: string
  /** The image that static sites are put into; empty for nginx. */
  staticImage: string
  engine: Engine
  owner: Owner
  driver: ImageBuilder
  log: { info(line: string): void; build: BuildRequest['onLine'] }
  logger: Logger
}

export type Target = Pick<BuildRequest, 'tag' | 'labels'>

export type BuildInputs = Pick<
  BuildRequest,
  'buildArgs' | 'target' | 'secrets' | 'noCache' | 'cacheNamespace'
>

// A release: the settings and env of a deploy, frozen when the deploy starts, and sealed.
// Replacement and scaled-up instances read the release, not the service's newer settings.
import type { EnvVar } from './env.ts'
import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import { type ServiceSettings, settingsOfSchema2, settingsOfSchema3 } from './services.ts'
import type { Store } from './store/store.ts'

/** What an image without a Dockerfile of its author was built by. */
export interface ReleaseRecipe {
  version: number
  builder: string
  choices: { what: string; reason: string }[]
  dockerfile: string
  ignore: string
  /** The digests of the base images by their tags, as far as the engine reported them. */
  base_images: Record<string, string>
  pre_deploy_command: string | null
  proposals: { setting: string; value: string; reason: string }[]
  workers: { name: string; command: string }[]
  /** What the app keeps in files. Missing in releases of older versions. */
  stored_data?: {
    kind: 'database' | 'files'
    library: string
    path: string | null
    variable: string | null
    base: string
    disk: string
    reason: string
  }[]
}

export interface Release {
  settings: ServiceSettings
  /** The variables as the user wrote them, with unresolved references. */
  env: EnvVar[]
  /** References resolved, Berth's own variables added; null until the first instance starts. */
  resolved: EnvVar[] | null
  /** Missing if the image was built or obtained in another way. */
  recipe?: ReleaseRecipe
}

export function openReleases(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<Release>(store, sealer, 'releases', 'release')

  function get(deployId: string): Release | null {
    const release = sealed.get(deployId)
    const earlier = { ...settingsOfSchema2, ...settingsOfSchema3 }
    return release && { ...release, settings: { ...earlier, ...release.settings } }
  }

  return {
    get,
    has: sealed.has,
    /** One transaction, so that a concurrent change is included completely or not at all. */
    freeze: (deployId: string, release: () => Release) => store.commit(() => sealed.put(deployId, release())),
    resolve: (deployId: string, resolved: EnvVar[]) =>
      store.commit(() => {
        const release = get(deployId)
        if (release && !release.resolved) sealed.put(deployId, { ...release, resolved })
      }),
    keepRecipe: (deployId: string, recipe: ReleaseRecipe) =>
      store.commit(() => {
        const release = get(deployId)
        if (release) sealed.put(deployId, { ...release, recipe })
      }),
    remove: (deployId: string) => store.commit(() => sealed.remove(deployId)),
    ids: sealed.keys,
  }
}

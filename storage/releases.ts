// A release: the settings and env of a deploy, frozen when the deploy starts, and sealed.
// Replacement and scaled-up instances read the release, not the service's newer settings.
import type { EnvVar } from './env.ts'
import type { Sealer } from './secrets.ts'
import { type ServiceSettings, settingsOfSchema2, settingsOfSchema3 } from './services.ts'
import type { Store } from './store/store.ts'

export interface Release {
  settings: ServiceSettings
  /** The variables as the user wrote them, with unresolved references. */
  env: EnvVar[]
  /** References resolved, Berth's own variables added; null until the first instance starts. */
  resolved: EnvVar[] | null
}

export function openReleases(store: Store, sealer: Sealer) {
  const sealed = store.table<string>('releases')
  const name = (deployId: string) => `release:${deployId}`

  function get(deployId: string): Release | null {
    const row = sealed.get(deployId)
    if (row === null) return null
    const release: Release = JSON.parse(sealer.open(row, name(deployId)))
    return { ...release, settings: { ...settingsOfSchema2, ...settingsOfSchema3, ...release.settings } }
  }
  function put(deployId: string, release: Release): void {
    sealed.put(deployId, sealer.seal(JSON.stringify(release), name(deployId)))
  }

  return {
    get,
    has: (deployId: string): boolean => sealed.get(deployId) !== null,
    /**
     * Reads and writes in one transaction, so that a concurrent change is included completely or not at all.
     */
    freeze: (deployId: string, release: () => Release) => store.commit(() => put(deployId, release())),
    resolve: (deployId: string, resolved: EnvVar[]) =>
      store.commit(() => {
        const release = get(deployId)
        if (release && !release.resolved) put(deployId, { ...release, resolved })
      }),
    remove: (deployId: string) => store.commit(() => sealed.remove(deployId)),
    ids: (): string[] => [...sealed.keys()] as string[],
  }
}

export type Releases = ReturnType<typeof openReleases>

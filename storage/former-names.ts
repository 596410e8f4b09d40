// The names of images from before they carried a MAC, in a store and on an engine of the former version.
import { openRedundantValue } from './store/redundant-value.ts'
import type { Store } from './store/store.ts'

/** Whether the engine may still have objects with former names. */
export function openFormerNames(store: Store) {
  const stored = openRedundantValue<boolean>(store, 'server', 'former_names')
  return {
    areExpected: () => stored.get() ?? false,
    /** Only inside a commit. */
    expect: () => stored.put(true),
    settle: () => store.commit(() => stored.put(false)),
  }
}

const formerName = /^[^\s/:]+\/[^\s/:]+:(dep-[0-7][0-9a-hjkmnp-tv-z]{25})$/

/**
 * Completes the names of images in a stored value. Only `isOwn` deploys: a user may have written the name of
 * another service's image into a field of his own, and must not learn its MAC.
 */
export function toCurrentNames<T>(
  value: T,
  isOwn: (deployId: string) => boolean,
  mac: (text: string) => string,
): T {
  return JSON.parse(JSON.stringify(value), (_, field: unknown) => {
    const deployId = typeof field === 'string' ? formerName.exec(field)?.[1] : undefined
    return deployId && isOwn(deployId) ? `${field}-${mac(`image ${deployId}`)}` : field
  }) as T
}

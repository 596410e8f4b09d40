// The container of a datastore as the engine shows it.
import Docker from 'dockerode'
import type { DatastoreEntry } from './book.ts'

export interface Place {
  prefix: string
  /** Where the engine listens. */
  path: string
}

export function inspectContainer({ prefix, path }: Place, { name }: Pick<DatastoreEntry, 'name'>) {
  return new Docker({ socketPath: path }).getContainer(`${prefix}-datastore-${name}`).inspect()
}

/** As a neighbor in its network reaches it, but for its name. */
export async function networkUrl(place: Place, { name, answer }: DatastoreEntry): Promise<string> {
  const { NetworkSettings } = await inspectContainer(place, { name })
  const [network] = Object.values(NetworkSettings.Networks)
  const url: string = answer.internal_url
  return url.replace(`@${name}:`, `@${network!.IPAddress}:`)
}

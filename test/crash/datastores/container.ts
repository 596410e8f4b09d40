// The container of a datastore, from the engine.
import Docker from 'dockerode'
import type { DatastoreEntry } from './book.ts'

export interface Place {
  prefix: string
  /** The engine's socket. */
  path: string
}

export function inspectContainer({ prefix, path }: Place, { name }: Pick<DatastoreEntry, 'name'>) {
  return new Docker({ socketPath: path }).getContainer(`${prefix}-datastore-${name}`).inspect()
}

/** The address at which other containers of its network reach it. */
export async function networkUrl(place: Place, { name, answer }: DatastoreEntry): Promise<string> {
  const { NetworkSettings } = await inspectContainer(place, { name })
  const [network] = Object.values(NetworkSettings.Networks)
  const url: string = answer.internal_url
  return url.replace(`@${name}:`, `@${network!.IPAddress}:`)
}

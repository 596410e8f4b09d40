// Descriptions of fields whose schema has none. A key is `Schema` or `Schema.field`; fields of nested objects
// follow after further dots.
import { serviceSettings, settingNames } from '../../../domain/service-settings.ts'
import { datastoreMeanings } from './datastores.ts'
import { deployMeanings } from './deploys.ts'
import { serverMeanings } from './server.ts'
import { serviceMeanings } from './services.ts'

/** Descriptions of fields that have one meaning everywhere. */
const everywhere: Record<string, string> = {
  id: 'The id. Ids sort by creation time.',
  name: 'The name.',
  service_id: 'The id of its service.',
  datastore_id: 'The id of its datastore.',
  kind: 'The kind.',
  host: 'The host.',
  error: 'The error, as a sentence; null without an error.',
  created_at: 'When it was created.',
  updated_at: 'When a setting was last changed.',
  event: 'Name of the event.',
  data: 'Payload of the event.',
  line: 'Text of the line.',
  started_at: 'When it started; null until then.',
  finished_at: 'When it ended, successfully or not; null until then.',
  expires_at: 'When it expires; null for never.',
  next_attempt_at: 'When the next attempt is due; null if none is.',
}

export const meanings: Readonly<Record<string, string>> = {
  ...serverMeanings,
  ...serviceMeanings,
  ...deployMeanings,
  ...datastoreMeanings,
}

/** The description of a schema or of a field; undefined if it has no description. */
export function meaningOf(place: string): string | undefined {
  if (meanings[place] !== undefined) return meanings[place]
  const [schema, ...fields] = place.split('.')
  const field = fields.at(-1) ?? ''
  const setting = settingNames.find((name) => name === field)
  if (schema === 'Service' && setting) return serviceSettings[setting].meaning
  return everywhere[field]
}

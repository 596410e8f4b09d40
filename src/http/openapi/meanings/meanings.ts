// Descriptions of fields whose schema has none. A key is `Schema` or `Schema.field`; fields of nested objects
// follow after further dots.
import { serviceSettings, settingNames } from '../../../domain/service-settings.ts'
import { datastoreMeanings } from './datastores.ts'
import { deployMeanings } from './deploys.ts'
import { serverMeanings } from './server.ts'
import { serviceMeanings } from './services.ts'

/** Of fields that mean the same wherever they are. */
const everywhere: Record<string, string> = {
  id: 'The id. Ids sort by age.',
  name: 'The name.',
  service_id: 'The id of the service that it belongs to.',
  datastore_id: 'The id of the datastore that it belongs to.',
  kind: 'Which sort it is.',
  host: 'The host.',
  error: 'What went wrong, for people; null when nothing did.',
  created_at: 'When it was created.',
  updated_at: 'When one of its settings was last changed.',
  event: 'Name of the event.',
  data: 'Payload of the event.',
  line: 'Text of the line.',
  started_at: 'When it began to run; null until then.',
  finished_at: 'When it ended, well or not; null until then.',
  expires_at: 'When it ends by itself; null for never.',
  next_attempt_at: 'When it is tried again; null when no attempt is due.',
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

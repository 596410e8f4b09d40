// Git connections in responses.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { GitConnection } from '../../api/git-connection.ts'
import type { HttpContext, HttpStorage } from '../pipeline/context.ts'
import { shownFields } from './shown-fields.ts'
import { finder } from './stored-record.ts'

type Stored = RecordOf<'git-connection'>

/** More connections than a server ever has. */
const maxConnections = 500

/** Newest first. */
export function listGitConnectionRecords({ actors }: HttpStorage): Stored[] {
  const records = actors.list('git-connection', '', maxConnections)
  return records.filter(({ status }) => status !== 'deleted')
}

export const findGitConnection = finder<'git-connection'>('git', 'git connection', 'berth git ls lists them')

export function readGitConnection(context: HttpContext, id: string): GitConnection {
  return toGitConnection(context, findGitConnection(context.storage, id))
}

export function toGitConnection(context: HttpContext, record: Stored): GitConnection {
  return shownFields(GitConnection, record, { services: servicesOf(context, record.id) })
}

/** Names of the services whose repository is cloned with the connection, by name. */
export function servicesOf({ storage, git }: HttpContext, id: string): string[] {
  const rows = storage.services.list().filter((service) => git.servingId(service) === id)
  return rows.map(({ name }) => name)
}

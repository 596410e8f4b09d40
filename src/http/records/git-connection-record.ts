// Git connections in responses. Fields are listed one by one, so that nothing is exposed by accident.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { GitConnection } from '../../api/git-connection.ts'
import type { HttpContext, HttpStorage } from '../pipeline/context.ts'
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
  return {
    id: record.id,
    provider: record.provider,
    auth: record.auth,
    status: record.status as GitConnection['status'],
    phase: record.phase,
    invalid_reason: record.invalid_reason,
    error: record.error,
    error_code: record.error_code,
    account: record.account,
    account_name: record.account_name,
    app_slug: record.app_slug,
    app_url: record.app_url,
    manage_url: record.manage_url,
    base_url: record.base_url,
    client_id: record.client_id,
    repository_selection: record.repository_selection,
    scopes: record.scopes,
    services: servicesOf(context, record.id),
    token_expires_at: record.token_expires_at,
    token_hint: record.token_hint,
    created_at: record.created_at,
    updated_at: record.updated_at,
    revision: record.revision,
    by: record.by,
  }
}

/** Names of the services whose repository is cloned with the connection, by name. */
export function servicesOf({ storage, git }: HttpContext, id: string): string[] {
  const rows = storage.services.list().filter((service) => git.servingId(service) === id)
  return rows.map(({ name }) => name)
}

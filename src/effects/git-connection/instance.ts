// The connected accounts, and the instance of the provider that each of them belongs to.
import type { GitConnectionRecord } from '../../../machines/git-connection/git-connection.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { waitFor } from '../../async/wait-for.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { Failure } from '../../errors.ts'
import type { HostRules } from '../../git/remote-host.ts'
import type { Instance } from '../../git-providers/provider.ts'

/** More connections than a server ever has. */
const maxConnections = 500

type Stored = RecordOf<'git-connection'>

/** Newest first, without deleted ones. */
export function listConnections({ actors }: Pick<Storage, 'actors'>): Stored[] {
  const records = actors.list('git-connection', '', maxConnections)
  return records.filter(({ status }) => status !== 'deleted')
}

/** Throws `not_found`. */
export function findConnection({ actors }: Pick<Storage, 'actors'>, id: string): Stored {
  const record = id.startsWith('git-') ? actors.record<'git-connection'>(id) : null
  if (record && record.status !== 'deleted') return record
  throw new Failure('not_found', 'there is no such git connection', 'berth git ls lists them')
}

/** The one connection of an account; accounts are equal in any letter case. */
export function findByAccount(
  storage: Pick<Storage, 'actors'>,
  { provider, base_url }: Pick<GitConnectionRecord, 'provider' | 'base_url'>,
  login: string,
): Stored | null {
  const isSame = (one: Stored) =>
    one.provider === provider &&
    one.base_url === base_url &&
    one.status !== 'pending' &&
    one.account?.toLowerCase() === login.toLowerCase()
  return listConnections(storage).find(isSame) ?? null
}

export function instanceOf(
  { provider, base_url: baseUrl }: Pick<GitConnectionRecord, 'provider' | 'base_url'>,
  hostRules: HostRules,
): Instance {
  return { provider, baseUrl, hostRules }
}

/** Longer than a request to a provider may take. */
const timeoutMs = 60_000

/** The record of the connection once it is not in this phase. Throws `late` after a minute. */
export function waitForEndOf(
  phase: 'exchanging' | 'renewing',
  id: string,
  { actors, changes }: Pick<Storage, 'actors' | 'changes'>,
  late: Error,
): Promise<RecordOf<'git-connection'>> {
  const subscribe = (listener: () => void) =>
    changes.subscribe((change) => {
      if (change.id === id) listener()
    })
  const settled = () => {
    const record = actors.record<'git-connection'>(id)!
    return record.phase === phase ? null : record
  }
  return withTimeout(timeoutMs, undefined, (signal) => waitFor(subscribe, settled, signal), late)
}

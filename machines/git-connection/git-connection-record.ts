import { problemFields } from '../problem.ts'
import type { GitConnectionSnapshot } from './git-connection.ts'

export function toRecord(snapshot: GitConnectionSnapshot) {
  const { context } = snapshot
  const { account, app } = context
  return {
    id: context.id,
    status: statusOf(snapshot),
    /** The step of a pending connection, or the current work. */
    phase: phaseOf(snapshot),
    invalid_reason: statusOf(snapshot) === 'invalid' ? context.invalidReason : null,
    ...problemFields(context.problem),
    provider: context.provider,
    base_url: context.baseUrl,
    auth: context.auth,
    account: account?.login ?? (context.auth === 'github_app' ? context.organization : null),
    account_name: account?.name ?? null,
    app_slug: app?.slug ?? null,
    app_url: app?.url ?? null,
    manage_url: account?.manageUrl ?? null,
    client_id: app?.clientId ?? context.clientId,
    repository_selection: account?.repositorySelection ?? null,
    scopes: account?.scopes ?? [],
    token_expires_at: account?.tokenExpiresAt ?? null,
    token_hint: account?.tokenHint ?? null,
    created_at: context.at,
    updated_at: context.updatedAt,
    /** The last three are not shown. */
    organization: context.organization,
    installation_id: account?.installationId ?? null,
    access_expires_at: account?.accessExpiresAt ?? null,
    merged_into: context.mergedInto,
  }
}

export type GitConnectionRecord = ReturnType<typeof toRecord>

/** During an exchange a connection has the status that it had before. */
function statusOf(snapshot: GitConnectionSnapshot) {
  const { resting } = snapshot.context
  if (snapshot.matches('removing') || snapshot.matches('deleted')) return 'deleted'
  const isExchanging = snapshot.matches('exchanging')
  if (snapshot.matches('invalid') || (isExchanging && resting === 'invalid')) return 'invalid'
  return snapshot.matches('connected') || (isExchanging && resting === 'connected') ? 'connected' : 'pending'
}

type GitPhase = 'registering' | 'installing' | 'authorizing' | 'exchanging' | 'renewing'

function phaseOf(snapshot: GitConnectionSnapshot): GitPhase | null {
  if (snapshot.matches('exchanging')) return 'exchanging'
  if (snapshot.matches({ connected: 'renewing' })) return 'renewing'
  if (snapshot.matches({ pending: 'registering' })) return 'registering'
  if (snapshot.matches({ pending: 'installing' })) return 'installing'
  return snapshot.matches({ pending: 'authorizing' }) ? 'authorizing' : null
}

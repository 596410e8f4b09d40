// The start of an authorization: what was requested, and the connection that it is for.
import type { GitConnectionInput } from '../../../machines/git-connection/git-connection-context.ts'
import type { By, RecordOf } from '../../../storage/actors/actors.ts'
import type { GitApplication } from '../../../storage/git-connections.ts'
import { Failure } from '../../errors.ts'
import { type ProviderName, parseBaseUrl, providerTitles } from '../../git-providers/base-url.ts'
import { oauthEndpoints } from '../../git-providers/oauth.ts'
import { isoNow } from '../iso-now.ts'
import { findConnection, listConnections } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'

type Connection = RecordOf<'git-connection'>

export interface AuthorizationRequest {
  /** Null to resume a connection. */
  provider: ProviderName | null
  baseUrl: string | null
  organization: string | null
  clientId: string | null
  clientSecret: string | null
  connectionId: string | null
  redirectUri: string
  by: By
}

const organizationPattern = /^[a-z0-9](?:[a-z0-9-]{0,37}[a-z0-9])?$/i

/** A pending connection of the same kind is continued, so that canceled attempts do not pile up. */
export async function begin(ports: GitConnectionPorts, request: AuthorizationRequest): Promise<Connection> {
  const input = inputOf(ports, request)
  const { storage } = ports
  const isSame = (one: Connection) =>
    one.status === 'pending' &&
    one.phase !== 'installing' &&
    one.provider === input.provider &&
    one.base_url === input.baseUrl &&
    one.auth === input.auth &&
    one.organization === input.organization
  const same = listConnections(storage).find(isSame)
  if (same) return same
  await ports.actors.spawn('git-connection', input.id, input, { by: request.by })
  return findConnection(storage, input.id)
}

function inputOf({ storage }: GitConnectionPorts, request: AuthorizationRequest): GitConnectionInput {
  const { provider, organization } = request
  if (provider === null) throw invalid('provider', 'is required without connection_id')
  if (organization !== null && !organizationPattern.test(organization)) {
    throw invalid('organization', 'must be 1 to 39 letters, digits and inner dashes')
  }
  const baseUrl = parseBaseUrl(provider, request.baseUrl)
  if (
    provider !== 'github' &&
    !applicationOf(request) &&
    !storage.gitConnections.application(provider, baseUrl)
  ) {
    throw applicationRequired(provider)
  }
  return {
    id: storage.ids.newId('git'),
    provider,
    baseUrl,
    auth: provider === 'github' ? 'github_app' : 'oauth',
    organization: provider === 'github' ? organization : null,
    clientId: request.clientId ?? storage.gitConnections.application(provider, baseUrl)?.clientId ?? null,
    account: null,
    at: isoNow(),
  }
}

export function applicationRequired(provider: Exclude<ProviderName, 'github'>): Failure {
  const title = providerTitles[provider]
  const how = `register one there with the scopes ${oauthEndpoints(provider).scope} and this redirect URI`
  return new Failure(
    'git_application_required',
    `this server has no OAuth application at ${title}`,
    `${how}, then send its client ID and secret`,
  )
}

export function applicationOf({ clientId, clientSecret }: AuthorizationRequest): GitApplication | null {
  if (clientId === null && clientSecret === null) return null
  if (!clientId || !clientSecret) throw invalid('client_id', 'is required together with client_secret')
  return { clientId, clientSecret }
}

export function invalid(path: string, problem: string): Failure {
  return new Failure('invalid_request', `${path}: ${problem}`, undefined, [
    { path, code: 'invalid', message: problem },
  ])
}

// Supplies tokens of connected accounts. Those of app installations are created for each use. Others are in
// the store; the actor of the connection renews them.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { Failure } from '../../errors.ts'
import { createInstallationToken, type GithubApp, readPresentPath } from '../../git-providers/github-app.ts'
import { providers } from '../../git-providers/providers.ts'
import { type InvalidReason, invalidReasonOf, ProviderRejection } from '../../git-providers/request.ts'
import { isoNow } from '../iso-now.ts'
import { findConnection, instanceOf, waitForEndOf } from './instance.ts'
import { withinLimit } from './limits.ts'
import type { GitConnectionPorts } from './ports.ts'

type Stored = RecordOf<'git-connection'>

/** An access token that ends sooner is renewed before it is used. */
const accessLeadMs = 60 * 1000

/**
 * The token of an app is for one repository, by its name without the owner; null is for all of them. Tokens
 * of other authorizations read whatever the account may read. Throws `git_authorization_rejected` if the
 * connection is not usable, `git_provider_unavailable` if the provider supplies no token now.
 */
export async function readToken(
  ports: GitConnectionPorts,
  id: string,
  repository: string | null,
): Promise<string> {
  const connection = findConnection(ports.storage, id)
  if (connection.status !== 'connected') throw notUsable(connection)
  const secrets = ports.storage.gitConnections.secrets(id)
  if (secrets === null) throw notUsable(connection)
  if (secrets.kind === 'token') return secrets.token
  if (secrets.kind === 'app') return createAppToken(ports, connection, secrets, repository)
  return isFresh(secrets.expiresAt, accessLeadMs) ? secrets.accessToken : renewed(ports, connection)
}

/** A rejection that ends the authorization invalidates the connection. */
export async function useToken<T>(
  ports: GitConnectionPorts,
  id: string,
  work: (token: string) => Promise<T>,
  repository: string | null = null,
): Promise<T> {
  const toReason = (error: unknown) => rejected(ports, findConnection(ports.storage, id), error)
  const token = await readToken(ports, id, repository)
  try {
    return await work(token)
  } catch (error) {
    const isRefused = error instanceof ProviderRejection && error.status === 401
    const other = isRefused ? await readOtherToken(ports, id, token) : null
    if (other === null) throw await toReason(error)
    return await work(other).catch(async (again: unknown) => {
      throw await toReason(again)
    })
  }
}

/**
 * The token that took the place of a refused one; an OAuth token is renewed. Without one the result is null,
 * and the provider is asked: if it refuses the token too, the connection becomes invalid.
 */
export async function replaceToken(
  ports: GitConnectionPorts,
  id: string,
  refused: string,
): Promise<string | null> {
  const other = await readOtherToken(ports, id, refused)
  const connection = findConnection(ports.storage, id)
  if (other !== null || connection.auth === 'github_app') return other
  const instance = instanceOf(connection, ports.settings.gitHosts)
  await useToken(ports, id, (token) => providers[connection.provider].account(instance, token))
  return null
}

/** Null for an app, whose tokens are new, and for a pasted token that is still the same. */
async function readOtherToken(
  ports: GitConnectionPorts,
  id: string,
  refused: string,
): Promise<string | null> {
  const secrets = ports.storage.gitConnections.secrets(id)
  if (secrets?.kind === 'token') return secrets.token === refused ? null : secrets.token
  if (secrets?.kind !== 'oauth') return null
  if (secrets.accessToken !== refused) return secrets.accessToken
  return secrets.refreshToken ? renewed(ports, findConnection(ports.storage, id), refused) : null
}

async function createAppToken(
  ports: GitConnectionPorts,
  connection: Stored,
  app: GithubApp,
  repository: string | null,
): Promise<string> {
  const { installation_id: installationId } = connection
  if (installationId === null) throw notUsable(connection)
  const instance = instanceOf(connection, ports.settings.gitHosts)
  const create = (name: string | null) => createInstallationToken(instance, app, installationId, name)
  try {
    // Apart from requests about commits: a limit of theirs must not keep the server from cloning.
    return await withinLimit(`${connection.id} tokens`, () =>
      create(repository).catch(async (error: unknown) => {
        const isUnknown = error instanceof ProviderRejection && error.status === 422
        if (!isUnknown || repository === null) throw error
        const former = `${connection.account}/${repository}`
        const refuse = () => Promise.reject(error)
        const present = await readPresentPath(instance, app, installationId, former).catch(refuse)
        const [owner = '', name = ''] = present.split('/')
        const isMoved = owner.toLowerCase() !== connection.account?.toLowerCase()
        return isMoved || name === repository ? refuse() : create(name)
      }),
    )
  } catch (error) {
    const isGone = error instanceof ProviderRejection && error.status === 404
    throw await rejected(ports, connection, error, isGone ? 'uninstalled' : null)
  }
}

/** The actor renews, so that there is only one renewal at a time and a crash does not lose it. */
async function renewed(
  { storage, actors }: GitConnectionPorts,
  { id }: Stored,
  refused: string | null = null,
): Promise<string> {
  await actors.send(id, { type: 'renew', at: isoNow() })
  const late = new Failure('git_provider_unavailable', 'the token of the connection was not renewed in time')
  const connection = await waitForEndOf('renewing', id, storage, late)
  const secrets = storage.gitConnections.secrets(id)
  if (connection.status !== 'connected' || secrets?.kind !== 'oauth') throw notUsable(connection)
  if (isFresh(secrets.expiresAt, 0) && secrets.accessToken !== refused) return secrets.accessToken
  const reason = connection.error ?? 'the provider did not respond'
  throw new Failure('git_provider_unavailable', `the token of the connection could not be renewed: ${reason}`)
}

/** Converts a rejection. One that ends the authorization makes the connection invalid. */
async function rejected(
  { actors }: GitConnectionPorts,
  connection: Stored,
  error: unknown,
  known: InvalidReason | null = null,
): Promise<unknown> {
  if (!(error instanceof ProviderRejection)) return error
  const reason = known ?? invalidReasonOf(error, connection.token_expires_at)
  if (reason === null) {
    const isRefusal = error.status === 401 || error.status === 403
    const code = isRefusal ? 'git_authorization_rejected' : 'git_provider_unavailable'
    return new Failure(code, error.message)
  }
  const { message } = error
  await actors.send(connection.id, { type: 'invalidate', at: isoNow(), reason, message })
  return new Failure('git_authorization_rejected', message, hintFor(connection))
}

function isFresh(expiresAt: string | null, leadMs: number): boolean {
  return expiresAt === null || Date.parse(expiresAt) - leadMs > Date.now()
}

const reasons: Record<InvalidReason, string> = {
  expired: 'its token has expired',
  revoked: 'the provider rejected its token',
  uninstalled: 'its app is no longer installed',
  suspended: 'its app is suspended',
}

function notUsable(connection: Stored): Failure {
  const { status, invalid_reason } = connection
  const reason = status === 'pending' ? 'it is not authorized yet' : reasons[invalid_reason ?? 'revoked']
  const text = `the git connection ${connection.id} cannot be used: ${reason}`
  return new Failure('git_authorization_rejected', text, hintFor(connection))
}

function hintFor({ auth, id }: Stored): string {
  return auth === 'token' ? 'connect the account again with a new token' : `berth git connect --resume ${id}`
}

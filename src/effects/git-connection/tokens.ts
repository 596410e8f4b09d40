// Supplies tokens of connected accounts. Those of app installations are created for each use. Others are in
// the store; the actor of the connection renews them.
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { Failure } from '../../errors.ts'
import type { HostRules } from '../../git/remote-host.ts'
import { createInstallationToken } from '../../git-providers/github-app.ts'
import { type InvalidReason, invalidReasonOf, ProviderRejection } from '../../git-providers/request.ts'
import { isoNow } from '../iso-now.ts'
import type { ActorPort } from '../ports.ts'
import { findConnection, instanceOf, waitForEndOf } from './instance.ts'

interface TokenParts {
  storage: Storage
  actors: Pick<ActorPort, 'send'>
  hostRules: HostRules
}

type Stored = RecordOf<'git-connection'>

/** An access token that ends sooner is renewed before it is used. */
const accessLeadMs = 60 * 1000

export class GitTokens {
  readonly #parts: TokenParts

  constructor(parts: TokenParts) {
    this.#parts = parts
  }

  /**
   * The token of an app is for one repository, by its name without the owner; null is for all of them. Tokens
   * of other authorizations read whatever the account may read. Throws `git_authorization_rejected` if the
   * connection is not usable, `git_provider_unavailable` if the provider supplies no token now.
   */
  async get(id: string, repository: string | null): Promise<string> {
    const connection = findConnection(this.#parts.storage, id)
    if (connection.status !== 'connected') throw notUsable(connection)
    const secrets = this.#parts.storage.gitConnections.secrets(id)
    if (secrets === null) throw notUsable(connection)
    if (secrets.kind === 'token') return secrets.token
    if (secrets.kind === 'app') return this.#createInstallationToken(connection, repository)
    return isFresh(secrets.expiresAt, accessLeadMs) ? secrets.accessToken : this.#renewed(connection)
  }

  /** For all repositories. A rejection that ends the authorization invalidates the connection. */
  async use<T>(id: string, work: (token: string) => Promise<T>): Promise<T> {
    const token = await this.get(id, null)
    const used = this.#secretsOf(id)
    try {
      return await work(token)
    } catch (error) {
      const connection = findConnection(this.#parts.storage, id)
      if (this.#secretsOf(id) !== used) throw replacedMeanwhile()
      throw await this.#rejected(connection, error)
    }
  }

  /** For comparison: the rejection of an earlier authorization says nothing about the current one. */
  #secretsOf(id: string): string {
    return JSON.stringify(this.#parts.storage.gitConnections.secrets(id))
  }

  async #createInstallationToken(connection: Stored, repository: string | null): Promise<string> {
    const { id, installation_id: installationId } = connection
    const secrets = this.#parts.storage.gitConnections.secrets(id)
    if (secrets?.kind !== 'app' || installationId === null) throw notUsable(connection)
    try {
      const instance = instanceOf(connection, this.#parts.hostRules)
      return await createInstallationToken(instance, secrets, installationId, repository)
    } catch (error) {
      const isGone = error instanceof ProviderRejection && error.status === 404
      throw await this.#rejected(connection, error, isGone ? 'uninstalled' : null)
    }
  }

  /** The actor renews, so that there is only one renewal at a time and a crash does not lose it. */
  async #renewed({ id }: Stored): Promise<string> {
    const { storage, actors } = this.#parts
    await actors.send(id, { type: 'renew', at: isoNow() })
    const late = new Failure(
      'git_provider_unavailable',
      'the token of the connection was not renewed in time',
    )
    const connection = await waitForEndOf('renewing', id, storage, late)
    const secrets = storage.gitConnections.secrets(id)
    if (connection.status !== 'connected' || secrets?.kind !== 'oauth') throw notUsable(connection)
    if (isFresh(secrets.expiresAt, 0)) return secrets.accessToken
    const reason = connection.error ?? 'the provider did not respond'
    throw new Failure(
      'git_provider_unavailable',
      `the token of the connection could not be renewed: ${reason}`,
    )
  }

  /** Converts a rejection. One that ends the authorization makes the connection invalid. */
  async #rejected(connection: Stored, error: unknown, known: InvalidReason | null = null): Promise<unknown> {
    if (!(error instanceof ProviderRejection)) return error
    const reason = known ?? invalidReasonOf(error, connection.token_expires_at)
    if (reason === null) {
      const isRefusal = error.status === 401 || error.status === 403
      const code = isRefusal ? 'git_authorization_rejected' : 'git_provider_unavailable'
      return new Failure(code, error.message)
    }
    const { message } = error
    await this.#parts.actors.send(connection.id, { type: 'invalidate', at: isoNow(), reason, message })
    return new Failure('git_authorization_rejected', message, hintFor(connection))
  }
}

function replacedMeanwhile(): Failure {
  return new Failure(
    'git_provider_unavailable',
    'the authorization was replaced in the meantime',
    'try again',
  )
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

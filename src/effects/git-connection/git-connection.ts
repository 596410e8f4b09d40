// The effects of a git connection: its authorization, the renewal of its tokens, and its end.
import type { machine } from '../../../machines/git-connection/git-connection.ts'
import type { Effects } from '../../../machines/slot.ts'
import { abortable } from '../../async/abortable.ts'
import { Failure } from '../../errors.ts'
import { isRefusedGrant, renewTokens } from '../../git-providers/oauth.ts'
import { ProviderRejection } from '../../git-providers/request.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { exchangeGrant } from './exchange.ts'
import { findConnection, instanceOf } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'
import { retryCommit } from './retry-commit.ts'

export function gitConnectionEffects(ports: GitConnectionPorts): Effects<typeof machine> {
  const { gitConnections } = ports.storage
  return {
    awaitExpiry,

    exchangeGrant: ({ id }) => exchangeGrant(ports, id),

    async awaitRenewal({ wakeAt }, signal) {
      return wakeAt === null ? abortable(new Promise(() => {}), signal) : awaitExpiry({ wakeAt }, signal)
    },

    renewTokens: ({ id }) => renew(ports, id),

    async removeSecrets({ id }) {
      ports.gitTokens.forget(id)
      await ports.storage.commit(() => {
        gitConnections.removeWithin(id)
        ports.storage.gitAuthorizations.removeWithin(id)
      })
      return { at: isoNow() }
    },
  }
}

/**
 * A crash in the middle repeats the renewal: if the provider has used the refresh token up, it
 * rejects it, and the connection would have been lost anyway.
 */
async function renew(ports: GitConnectionPorts, id: string) {
  const { gitConnections } = ports.storage
  const connection = findConnection(ports.storage, id)
  const secrets = gitConnections.secrets(id)
  if (secrets?.kind !== 'oauth' || !secrets.refreshToken) {
    throw new Failure('git_authorization_rejected', 'the provider issued no token for a renewal')
  }
  const { application, refreshToken } = secrets
  try {
    const instance = instanceOf(connection, ports.settings.gitHosts)
    const tokens = await renewTokens(instance, application, refreshToken)
    await retryCommit(() =>
      ports.storage.commit(() => {
        const current = gitConnections.secrets(id)
        // A new authorization may have replaced the one that was renewed.
        if (current?.kind === 'oauth' && current.refreshToken === refreshToken)
          gitConnections.putSecretsWithin(id, { kind: 'oauth', ...tokens, application })
      }),
    )
    return { at: isoNow(), accessExpiresAt: tokens.expiresAt }
  } catch (error) {
    if (!(error instanceof ProviderRejection)) throw error
    const code = isRefusedGrant(error) ? 'git_authorization_rejected' : 'git_provider_unavailable'
    throw new Failure(code, error.message)
  }
}

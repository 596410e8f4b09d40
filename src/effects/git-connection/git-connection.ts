// The effects of a git connection: its authorization, the renewal of its tokens, and its end.
import type { machine } from '../../../machines/git-connection/git-connection.ts'
import type { Effects } from '../../../machines/slot.ts'
import { abortable } from '../../async/abortable.ts'
import { Failure } from '../../errors.ts'
import { renewTokens } from '../../git-providers/oauth.ts'
import { ProviderRejection } from '../../git-providers/request.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import { exchangeGrant } from './exchange.ts'
import { findConnection, instanceOf } from './instance.ts'
import type { GitConnectionPorts } from './ports.ts'

export function gitConnectionEffects(ports: GitConnectionPorts): Effects<typeof machine> {
  const { gitConnections } = ports.storage
  return {
    awaitExpiry,

    exchangeGrant: ({ id }) => exchangeGrant(ports, id),

    async awaitRenewal({ wakeAt }, signal) {
      return wakeAt === null ? abortable(new Promise(() => {}), signal) : awaitExpiry({ wakeAt }, signal)
    },

    /**
     * A crash in the middle repeats the renewal: if the provider has used the refresh token up, it
     * rejects it, and the connection would have been lost anyway.
     */
    async renewTokens({ id }) {
      const connection = findConnection(ports.storage, id)
      const secrets = gitConnections.secrets(id)
      const application = gitConnections.application(connection.provider, connection.base_url)
      if (secrets?.kind !== 'oauth' || !secrets.refreshToken || !application) {
        throw new Failure('git_authorization_rejected', 'the provider issued no token for a renewal')
      }
      try {
        const instance = instanceOf(connection, ports.settings.gitHosts)
        const tokens = await renewTokens(instance, application, secrets.refreshToken)
        await gitConnections.putSecrets(id, { kind: 'oauth', ...tokens })
        return { at: isoNow(), accessExpiresAt: tokens.expiresAt }
      } catch (error) {
        if (!(error instanceof ProviderRejection)) throw error
        throw new Failure('git_authorization_rejected', error.message)
      }
    },

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

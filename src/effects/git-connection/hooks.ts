// Receives what git providers send to hooks. A delivery is only a hint: each service of the branch looks at
// its repository itself, so nothing of the body decides what is deployed.
import { isIP } from 'node:net'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { autoDeployIdOf, obstacleText, planOf } from '../../domain/auto-deploys.ts'
import { Failure, invalidRequest } from '../../errors.ts'
import { parseRepositoryUrl, repositoryKey } from '../../git/repository.ts'
import type { ProviderName } from '../../git-providers/base-url.ts'
import { type HookRequest, openDelivery, type Push, readName } from '../../git-providers/hooks.ts'
import { maxInlineBytes } from '../../readers/json.ts'
import { read } from '../../readers/read.ts'
import { isoNow } from '../iso-now.ts'
import { listConnections } from './instance.ts'
import type { AuthorizationPorts } from './ports.ts'
import { allKeysOf, keysOf } from './pushed-repository.ts'

export interface SentDelivery extends HookRequest {
  provider: ProviderName
  /** Null if the address names none: then those of all connections are tried. */
  connectionId: string | null
  /** Its client. */
  sender: string
}

export interface ReceivedDelivery {
  /** Of the delivery that this one repeats, if there is one. */
  id: string
  isRepeated: boolean
  /** Why no service looks at its repository; null if some do. */
  refusal: string | null
}

/** Throws `invalid_signature` without a valid signature, and `invalid_request` for what is no event. */
export async function receiveDelivery(storage: Storage, sent: SentDelivery): Promise<ReceivedDelivery> {
  const { provider } = sent
  const candidates = candidatesFor(storage, sent)
  const opened = await open(storage, sent, candidates)
  if (opened === null) {
    await keepUnsigned(storage, sent)
    const hint = 'berth git hook ACCOUNT shows the secret of its webhook'
    throw new Failure('invalid_signature', 'no connection has the secret that signed this delivery', hint)
  }
  if (opened.event === null) throw invalidRequest(`the body is no event of ${provider}`)
  const signer = candidates[opened.signer]!
  const { event, push, checked, deliveryId } = opened.event
  const keys = push === null ? keysOf(checked) : await allKeysOf(storage, signer.id, push)
  const services = push === null ? waitingOf(storage, keys) : servicesOf(storage, push, keys)
  const refusal = services.length > 0 ? null : refusalOf(event, push)
  const id = storage.ids.newId('dlv')
  const about = { id, provider, connection_id: signer.id, delivery_id: deliveryId, event, refusal }
  const former = await storage.hookDeliveries.keep({
    ...about,
    repository: keys[0] ?? null,
    ref: push?.ref ?? null,
    before: push?.before ?? null,
    after: push?.after ?? null,
    forced: push?.isForced ?? null,
    received_at: isoNow(),
    decisions: Object.fromEntries(services.map((service) => [service.id, refusalBy(service)])),
  })
  return { id: former ?? id, isRepeated: former !== null, refusal }
}

/** A large body is hashed and parsed by a reader. */
async function open(
  storage: Storage,
  { provider, headers, body, sender }: SentDelivery,
  candidates: RecordOf<'git-connection'>[],
) {
  const secrets = candidates.map(({ id }) => hookSecretOf(storage, id).secret)
  const unopened = { provider, headers, body, secrets }
  if (secrets.length === 0 || body.length <= maxInlineBytes) return openDelivery(unopened)
  return read('hook', unopened, { owner: sender })
}

function candidatesFor(storage: Storage, { provider, connectionId }: SentDelivery) {
  return listConnections(storage).filter(
    (one) => one.provider === provider && (connectionId ?? one.id) === one.id,
  )
}

/** Shows the owner of an account that its webhook has another secret. Its body is not kept. */
async function keepUnsigned(storage: Storage, sent: SentDelivery): Promise<void> {
  const { provider, headers } = sent
  const name = readName(provider, headers)
  const [candidate, ...more] = candidatesFor(storage, sent)
  if (name === null || candidate === undefined) return
  await storage.hookDeliveries.keepUnsigned({
    id: storage.ids.newId('dlv'),
    provider,
    connection_id: more.length === 0 ? candidate.id : null,
    delivery_id: name.deliveryId,
    event: name.event,
    repository: null,
    ref: null,
    before: null,
    after: null,
    forced: null,
    received_at: isoNow(),
    refusal: 'it is not signed with the secret of the webhook',
    decisions: {},
  })
}

/** The app of a connection may be registered with a webhook, which has its own secret. */
export function hookSecretOf({ actors, gitConnections, hookKeys }: Storage, id: string) {
  const secrets = gitConnections.secrets(id)
  const own = secrets?.kind === 'app' ? secrets.webhookSecret : null
  const isGitlab = actors.record<'git-connection'>(id)?.provider === 'gitlab'
  return { secret: own ?? hookKeys[isGitlab ? 'getSigningToken' : 'get'](id), isRegistered: own !== null }
}

/**
 * Where a new app of GitHub sends pushes to: the host of the dashboard, or that of a proxy in front of it, as
 * the browser names it. Null for one that GitHub cannot reach, as it refuses that.
 */
export function appHookUrl({ identity }: AuthorizationPorts, id: string, redirectUri: string): string | null {
  const { protocol, hostname, origin } = new URL(redirectUri)
  const isPublic = protocol === 'https:' && isIP(hostname) === 0 && hostname.includes('.')
  const own = identity.url ?? (isPublic ? origin : null)
  return own && `${own}/api/v1/hooks/github?connection=${id}`
}

/** Those that follow tags look at each new tag themselves. */
function servicesOf({ services }: Storage, push: Push, keys: string[]): ServiceRow[] {
  const branch = nameIn(push, branches)
  const isTag = nameIn(push, tags) !== null
  return withRepository(services.list(), keys).filter(({ branch: own, tag_pattern, deleting }) => {
    const isFollowed = tag_pattern ? isTag : branch !== null && (own ?? branch) === branch
    return isFollowed && !deleting
  })
}

/** Those with a head that waits for checks: to the others, they are no news. */
function waitingOf({ services, actors }: Storage, keys: string[]): ServiceRow[] {
  return withRepository(services.list(), keys).filter(
    ({ id }) => actors.record<'auto-deploy'>(autoDeployIdOf(id))?.status === 'checking',
  )
}

function withRepository(services: ServiceRow[], keys: string[]): ServiceRow[] {
  return services.filter(({ repo_url }) => {
    const key = repo_url === null ? null : repositoryKey(parseRepositoryUrl(repo_url))
    return key !== null && keys.includes(key)
  })
}

/** A decision at once for a service that does not look at its repository. */
function refusalBy(service: ServiceRow) {
  const obstacle = planOf(service)?.obstacle ?? null
  return obstacle && { at: isoNow(), deploy_id: null, reason: obstacleText(service, obstacle) }
}

function refusalOf(event: string, push: Push | null): string {
  if (push === null) return `nothing to do: event ${event}`
  const name = nameIn(push, branches) ?? nameIn(push, tags)
  return name === null ? `${push.ref} is not a branch` : `no service deploys ${name} of this repository`
}

const [branches, tags] = ['refs/heads/', 'refs/tags/'] as const

function nameIn({ ref }: Push, folder: string): string | null {
  return ref.startsWith(folder) ? ref.slice(folder.length) : null
}

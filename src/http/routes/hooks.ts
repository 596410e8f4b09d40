// Hooks, and what they received. A delivery is only a hint: each service looks at its repository itself.
import { z } from 'zod'
import type { HookDecision, HookDelivery } from '../../../storage/hook-deliveries.ts'
import { Deploy } from '../../api/deploy.ts'
import { GitConnectionParams } from '../../api/git-connection.ts'
import {
  DeliveriesQuery,
  Delivery,
  DeliveryParams,
  DeployHook,
  DeployHookQuery,
  GitHook,
  HookAnswer,
  HookQuery,
  WholeDelivery,
  WholeDeliveryParams,
} from '../../api/hook.ts'
import { ServiceParams } from '../../api/service.ts'
import { conflict, notFound } from '../../errors.ts'
import { ownAddressOf } from '../pipeline/origin.ts'
import {
  type Call,
  type CallById,
  get,
  post,
  tagged,
  type Upload,
  type WithHeaders,
} from '../pipeline/route.ts'
import { paged } from '../records/paging.ts'
import { requesterOf } from '../records/requester.ts'
import { assertNotDeleting, findService } from '../records/service-record.ts'
import { finder } from '../records/stored-record.ts'
import { assertNotSuspended, deployRequest, queueDeploy, sourceOf } from '../rules/deploy-request.ts'
import { readsService, runsService } from './record-routes.ts'

const mebibyte = 1024 * 1024
const findGitConnection = finder<'git-connection'>('git', 'git connection', 'berth git ls lists them')

const delivery = {
  mediaTypes: ['application/json', 'application/x-www-form-urlencoded'],
  // GitHub lists up to 2,048 commits in a push, with all paths of their files.
  limitBytes: 4 * mebibyte,
  description:
    'The event, as the provider sends it: JSON, or a form with the field `payload`. At most 4 MiB.',
}

const providers = ['github', 'gitlab', 'gitea'] as const
type Provider = (typeof providers)[number]

const receivers = providers.map((provider) =>
  post(`/hooks/${provider}`, {
    credential: 'public',
    summary: 'Receives an event of a git provider, signed with the secret of a connection',
    query: HookQuery,
    upload: delivery,
    acceptsIdempotencyKey: false,
    // They are many, and kept as deliveries.
    isAudited: false,
    problems: ['invalid_signature', 'too_complex'],
    response: HookAnswer,
    handler: (call: Call<unknown, HookQuery, Upload>) => receiveDelivery(provider, call),
  }),
)

export const hookRoutes = tagged('Hooks', [
  ...receivers,
  post('/hooks/deploy/{id}', {
    credential: 'public',
    summary: 'Queues a deploy of a service, with the key of its deploy hook',
    params: ServiceParams,
    query: DeployHookQuery,
    // Its key is in the query.
    ignoresBody: true,
    problems: ['conflict', 'not_found'],
    auditsVisitor: () => true,
    status: 202,
    response: z.object({ deploy_id: z.string().describe('Id of the deploy.') }),
    handler: runDeployHook,
  }),
  get('/git/connections/{id}/hook', {
    summary: 'Returns the address and the secret of the webhook for pushes to the repositories of an account',
    params: GitConnectionParams,
    response: GitHook,
    handler: readGitHook,
  }),
  get('/git/connections/{id}/deliveries', {
    summary: 'Lists the deliveries of an account that concern no service or are not signed, newest first',
    params: GitConnectionParams,
    response: z.array(Delivery),
    handler: listOtherDeliveries,
  }),
  get('/git/deliveries/{delivery_id}', {
    summary: 'Returns a delivery with the decisions of all services',
    params: WholeDeliveryParams,
    response: WholeDelivery,
    handler: readDelivery,
  }),
  get('/services/{id}/deploy-hook', {
    summary: 'Returns the deploy hook of a service, which contains its key',
    params: ServiceParams,
    response: DeployHook,
    handler: (call) => toDeployHook(call, findService(call.context.storage, call.params.id).id),
  }),
  post('/services/{id}/deploy-hook/rotate', {
    summary: 'Replaces the key of the deploy hook; the former one stops working immediately',
    params: ServiceParams,
    acceptsIdempotencyKey: false,
    response: DeployHook,
    async handler(call) {
      const { storage } = call.context
      const { id } = findService(storage, call.params.id)
      await storage.hookKeys.replace(id)
      return toDeployHook(call, id)
    },
  }),
  get('/services/{id}/deliveries', {
    ...readsService,
    summary: 'Lists the pushes that providers reported to a service, newest first',
    query: DeliveriesQuery,
    response: z.array(Delivery),
    handler: listDeliveries,
  }),
  post('/services/{id}/deliveries/{delivery_id}/redeliver', {
    ...runsService,
    params: DeliveryParams,
    summary: 'Queues a deploy of the head that a delivery named, also if it was deployed before',
    response: Deploy,
    status: 202,
    problems: ['conflict'],
    handler: redeliver,
  }),
])

function receiveDelivery(
  provider: Provider,
  { context, query, body: upload, request: { headers } }: Call<unknown, HookQuery, Upload>,
): Promise<HookAnswer> {
  return upload.collect(async (body, sender) => {
    const sent = { provider, connectionId: query.connection || null, headers, body, sender }
    const { id, isRepeated, refusal } = await context.git.receive(sent)
    if (isRepeated) return { id, result: 'duplicate', reason: null }
    return { id, result: refusal === null ? 'accepted' : 'ignored', reason: refusal }
  })
}

async function runDeployHook(call: CallById<z.output<typeof DeployHookQuery>>) {
  const { context, params, query } = call
  const { storage } = context
  const row = storage.services.get(params.id)
  // The same response for everything that is wrong: an id must not be guessed.
  if (row?.id !== params.id || !storage.hookKeys.matches(row.id, query.key ?? ''))
    throw notFound('there is no such deploy hook')
  assertNotDeleting(row)
  assertNotSuspended(row)
  const source = sourceOf(row)
  if (!source) throw conflict(`${row.name} has nothing to deploy`)
  const by = { kind: 'server' as const, id: null, name: 'its deploy hook' }
  const { id } = await queueDeploy(context, deployRequest(context, row, { trigger: 'hook', source, by }))
  return { deploy_id: id }
}

/** Of pushes, and of the checks of a commit, as the page of the provider calls them. */
const eventLabels: Record<Provider, Pick<GitHook, 'events' | 'check_events'>> = {
  github: { events: ['Pushes'], check_events: ['Check suites', 'Statuses'] },
  gitlab: { events: ['Push events', 'Tag push events'], check_events: ['Pipeline events'] },
  gitea: { events: ['Push'], check_events: ['Statuses'] },
}

function readGitHook({ context: { storage, config, git }, params }: CallById): GitHook {
  const { id, provider } = findGitConnection(storage, params.id)
  const { dashboardHost } = config.edge
  const { secret, isRegistered } = git.hookSecret(id)
  return {
    url: dashboardHost && `https://${dashboardHost}/api/v1/hooks/${provider}?connection=${id}`,
    secret,
    content_type: 'application/json',
    ...eventLabels[provider],
    registered: isRegistered,
  }
}

function toDeployHook({ context, request }: CallById, id: string): DeployHook {
  const { dashboardHost } = context.config.edge
  const origin = dashboardHost ? `https://${dashboardHost}` : ownAddressOf(context, request)
  const key = context.storage.hookKeys.get(id)
  return { url: `${origin}/api/v1/hooks/deploy/${id}?key=${key}`, key }
}

function listDeliveries(call: CallById<DeliveriesQuery>): WithHeaders<Delivery[]> {
  const { context, params, query } = call
  const { hookDeliveries } = context.storage
  const { id } = findService(context.storage, params.id)
  const found = hookDeliveries.ofService(id, query.limit + 1, query.before)
  const page = found.slice(0, query.limit)
  const next = found.length > query.limit ? page.at(-1)!.id : null
  return paged(
    call,
    page.map((one) => toDelivery(one, id)),
    next,
  )
}

function listOtherDeliveries({ context: { storage }, params }: CallById): Delivery[] {
  const connection = findGitConnection(storage, params.id)
  return storage.hookDeliveries.ofConnection(connection).map((one) => {
    const { decisions: _, refusal, forced = null, ...delivery } = one
    return { ...delivery, forced, decided_at: one.received_at, deploy_id: null, reason: refusal }
  })
}

function readDelivery({ context, params }: Call<z.output<typeof WholeDeliveryParams>>): WholeDelivery {
  const { services, hookDeliveries } = context.storage
  const found = hookDeliveries.get(params.delivery_id)
  if (!found) throw notFound('there is no such delivery')
  const { decisions, refusal, forced = null, ...delivery } = found
  const made = Object.entries(decisions).map(([id, one]) => ({
    service: services.nameOf(id),
    service_id: id,
    ...toDecision(one),
  }))
  const byName = made.sort((one, other) => ((one.service ?? '') < (other.service ?? '') ? -1 : 1))
  return { ...delivery, forced, reason: refusal, decisions: byName }
}

function toDelivery(one: HookDelivery, service: string): Delivery {
  const { decisions, refusal: _, forced = null, ...delivery } = one
  return { ...delivery, forced, ...toDecision(decisions[service]) }
}

function toDecision(decision: HookDecision | null | undefined) {
  const { at: decided_at = null, deploy_id = null, reason = null } = decision ?? {}
  return { decided_at, deploy_id, reason }
}

function redeliver(call: Call<z.output<typeof DeliveryParams>>): Promise<Deploy> {
  const { context, params, eventId } = call
  const row = findService(context.storage, params.id)
  const found = context.storage.hookDeliveries.get(params.delivery_id)
  if (!found || !(row.id in found.decisions)) throw notFound('there is no such delivery')
  assertNotDeleting(row)
  assertNotSuspended(row)
  const source = sourceOf(row, found.after)
  if (source?.kind !== 'git' || found.after === null || /^0+$/.test(found.after))
    throw conflict('this delivery names no head to deploy')
  const asked = { trigger: 'push' as const, source, by: requesterOf(call) }
  return queueDeploy(context, deployRequest(context, row, asked), { eventId })
}

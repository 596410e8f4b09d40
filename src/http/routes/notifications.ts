// Where messages to people go, and what became of them. Only administrators add channels, because the server
// connects to their addresses.
import { z } from 'zod'
import type { NotificationChannel } from '../../../storage/notification-channels.ts'
import {
  Channel,
  ChannelParams,
  CreateChannel,
  DeliveriesQuery,
  Delivery,
  DeliveryParams,
  UpdateChannel,
} from '../../api/notification.ts'
import type { Notice } from '../../domain/notice.ts'
import {
  assertChannel,
  newWebhookSecret,
  notificationOf,
  settingNames,
} from '../../domain/notification-channels.ts'
import { conflict, invalidField } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import {
  type Call,
  type CallById,
  del,
  get,
  patch,
  post,
  tagged,
  type WithHeaders,
} from '../pipeline/route.ts'
import {
  findChannel,
  findDelivery,
  readDelivery,
  toChannel,
  toDelivery,
} from '../records/notification-record.ts'
import { ownerOf, paged } from '../records/paging.ts'
import { command, requesterOf } from '../records/requester.ts'
import { awaitRecord } from '../records/stored-record.ts'
import { recordRoutes } from './record-routes.ts'

const maxChannels = 50
/** Longer than an attempt may take. */
const testMs = 35_000

export const notificationRoutes = tagged('Notifications', [
  get('/notification-channels', {
    role: 'read',
    summary: 'Lists the channels, by age',
    response: z.array(Channel),
    handler: ({ context: { storage } }) =>
      storage.notificationChannels.list().map((channel) => toChannel(storage, channel)),
  }),
  post('/notification-channels', {
    summary: 'Adds a channel; the response has the secret of a webhook',
    body: CreateChannel,
    response: Channel,
    status: 201,
    // The response contains a secret, so it is not stored.
    acceptsIdempotencyKey: false,
    problems: ['name_taken', 'conflict'],
    handler: createChannel,
  }),
  get('/notification-channels/{id}', {
    role: 'read',
    summary: 'Returns a channel',
    params: ChannelParams,
    response: Channel,
    handler: ({ context: { storage }, params }) => toChannel(storage, findChannel(storage, params.id)),
  }),
  patch('/notification-channels/{id}', {
    summary: 'Changes a channel; disabling it cancels the messages that wait',
    params: ChannelParams,
    body: UpdateChannel,
    response: Channel,
    problems: ['name_taken'],
    handler: updateChannel,
  }),
  del('/notification-channels/{id}', {
    summary: 'Deletes a channel and cancels the messages that wait',
    params: ChannelParams,
    async handler({ context, params }) {
      const { id } = findChannel(context.storage, params.id)
      await context.storage.notificationChannels.remove(id)
      await cancelWaiting(context, id, 'its channel was deleted')
    },
  }),
  post('/notification-channels/{id}/test', {
    summary: 'Sends a test message once, and returns what became of it',
    params: ChannelParams,
    response: Delivery,
    replay: readDelivery,
    handler: testChannel,
  }),
  get('/notification-deliveries', {
    role: 'read',
    summary: 'Lists the messages to people with their attempts, newest first; 30 days, 1000 per channel',
    query: DeliveriesQuery,
    response: z.array(Delivery),
    problems: ['not_found'],
    handler: listDeliveries,
  }),
  ...recordRoutes('/notification-deliveries/{id}', {
    noun: 'a delivery',
    params: DeliveryParams,
    find: findDelivery,
    show: { response: Delivery, read: readDelivery },
  }),
  post('/notification-deliveries/{id}/redeliver', {
    summary: 'Sends a message again under its message id, or tries a waiting one now',
    params: DeliveryParams,
    response: Delivery,
    status: 202,
    replay: readDelivery,
    problems: ['conflict'],
    handler: redeliver,
  }),
])

async function createChannel({ context, body }: Call<unknown, unknown, CreateChannel>): Promise<Channel> {
  const { storage } = context
  if (storage.notificationChannels.list().length >= maxChannels) {
    throw conflict(`there are ${maxChannels} channels already`, 'berth notify rm NAME deletes one')
  }
  const at = new Date().toISOString()
  const { name, kind } = body
  const isMail = kind === 'smtp'
  const tls = body.tls ?? (isMail ? ('starttls' as const) : null)
  const given = { ...body, tls, secret: body.secret ?? (kind === 'webhook' ? newWebhookSecret() : null) }
  const own = Object.fromEntries(settingNames.map((setting) => [setting, given[setting] ?? null]))
  const channel = {
    id: storage.ids.newId('chn'),
    name,
    kind,
    ...filtersOf(context, body, { enabled: true, min_severity: 'warning', services: null, codes: null }),
    ...own,
    created_at: at,
    updated_at: at,
  } as NotificationChannel
  if (isMail) channel.port ??= tls === 'implicit' ? 465 : 587
  assertChannel(channel)
  const shown = toChannel(storage, await storage.notificationChannels.put(channel))
  return kind === 'webhook' ? { ...shown, secret: channel.secret } : shown
}

async function updateChannel({ context, params, body }: CallById<unknown, UpdateChannel>): Promise<Channel> {
  const { storage } = context
  const channel = findChannel(storage, params.id)
  const own = settingNames.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))
  const changed: NotificationChannel = {
    ...channel,
    name: body.name ?? channel.name,
    ...filtersOf(context, body, channel),
    ...Object.fromEntries(own),
    updated_at: new Date().toISOString(),
  }
  assertChannel(changed)
  await storage.notificationChannels.put(changed)
  if (!changed.enabled) await cancelWaiting(context, channel.id, 'its channel was disabled')
  return toChannel(storage, changed)
}

type Filters = Pick<NotificationChannel, 'enabled' | 'min_severity' | 'services' | 'codes'>

function filtersOf(
  { storage }: HttpContext,
  { enabled, min_severity, services, codes }: UpdateChannel,
  before: Filters,
): Filters {
  const ids = services?.map((idOrName) => {
    const id = ownerOf(storage, idOrName)
    if (storage.nameOf(id) === null) throw invalidField('services', `there is no service ${idOrName}`)
    return id
  })
  return {
    enabled: enabled ?? before.enabled,
    min_severity: min_severity ?? before.min_severity,
    services: listOrNull(ids, before.services),
    codes: listOrNull(codes, before.codes),
  }
}

function listOrNull(given: string[] | undefined, before: string[] | null): string[] | null {
  if (given === undefined) return before
  return given.length === 0 ? null : [...new Set(given)]
}

async function cancelWaiting(
  { storage, actors }: HttpContext,
  channelId: string,
  reason: string,
): Promise<void> {
  const waiting = [...storage.actors.active('notification', channelId)]
  const event = { type: 'cancel', at: new Date().toISOString(), reason }
  await Promise.all(waiting.map(({ id }) => actors.send(id, event)))
}

async function testChannel(call: CallById): Promise<Delivery> {
  const { context, params, eventId } = call
  const channel = findChannel(context.storage, params.id)
  const id = context.storage.ids.newId('ntf')
  const notice: Notice = {
    id: `test:${id}`,
    event: 'test',
    at: new Date().toISOString(),
    severity: 'info',
    code: 'test',
    title: `A test of the channel ${channel.name}`,
    body: 'Messages of this server arrive here.\n\nberth notify',
    subject: null,
    count: 1,
    link: null,
  }
  const input = notificationOf(channel, notice, { id, maxTries: 1 })
  await context.actors.spawn('notification', id, input, { eventId, by: requesterOf(call) })
  const hasEnded = ({ finished_at }: { finished_at: string | null }) => finished_at !== null
  await awaitRecord<'notification'>(context.storage, id, testMs, hasEnded)
  return readDelivery(context, id)
}

function listDeliveries(call: Call<unknown, DeliveriesQuery>): WithHeaders<Delivery[]> {
  const { storage } = call.context
  const { channel, state, limit, before } = call.query
  const owners = channel === undefined ? undefined : [findChannel(storage, channel).id]
  const accepts = ({ status }: { status: string }) => state === undefined || state === status
  const { records, next } = storage.actors.page('notification', owners, { limit, before, accepts })
  return paged(call, records.map(toDelivery), next)
}

async function redeliver(call: CallById): Promise<Delivery> {
  const { context, params, eventId } = call
  const record = findDelivery(context.storage, params.id)
  const { status, notice, message_id, may_be_repeat } = record
  if (status === 'waiting') {
    await context.actors.send(record.id, command(call, 'retry'), { eventId })
    return readDelivery(context, record.id)
  }
  if (record.finished_at === null) throw conflict(`the message is ${status} already`)
  const channel = findChannel(context.storage, record.channel_id)
  const id = context.storage.ids.newId('ntf')
  const mayRepeat = may_be_repeat || status === 'delivered'
  const first = notificationOf(channel, notice, { id, maxTries: 1 })
  const input = { ...first, messageId: message_id, mayRepeat }
  await context.actors.spawn('notification', id, input, { eventId, by: requesterOf(call) })
  return readDelivery(context, id)
}

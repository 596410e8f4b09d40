// Where messages to people go, and what became of each message.
import { z } from 'zod'
import { noticeEvents, noticeSeverities } from '../domain/notice.ts'
import { channelKinds, tlsModes } from '../domain/notification-channels.ts'
import { failure } from './parts/failure.ts'
import {
  createdAt,
  finishedAt,
  id,
  identifier,
  Name,
  nextAttemptAt,
  optional,
  pageFields,
  recorded,
  text,
  timestamp,
  updatedAt,
  whole,
} from './parts/fields.ts'

export const ChannelParams = z.object({ id: identifier.describe('Id or name of the channel.') })
export const DeliveryParams = z.object({ id: identifier.describe('Id of the delivery.') })

const line = z.string().regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
const address = line.min(3).max(320).regex(/@/, { error: 'must be an e-mail address' })

const url = line.max(2048).refine((value) => isPlainUrl(value), {
  error: 'must be an http:// or https:// URL without a user name',
})

function isPlainUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** Empty lists clear the filter. */
const filters = {
  enabled: optional(z.boolean()).describe('A disabled channel gets no messages. Default true.'),
  min_severity: optional(z.enum(noticeSeverities)).describe('The lowest severity. Default `warning`.'),
  services: optional(z.array(identifier).max(100)).describe(
    'Ids or names of the services and datastores; all, and the server itself, if empty. Default all.',
  ),
  codes: optional(z.array(line.min(1).max(64)).max(100)).describe(
    'Codes of the rules; all if empty. Default all.',
  ),
}

const settings = {
  url: optional(url).describe(
    'webhook: the receiver. slack, discord: the incoming webhook, which is a secret. ntfy: the server.',
  ),
  secret: optional(line.min(1).max(1024)).describe(
    'webhook: the signing secret, `whsec_` and base64; generated if omitted. smtp: the password. ntfy: the ' +
      'access token. Stored encrypted.',
  ),
  topic: optional(
    z.string().regex(/^[\w-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, _ or -' }),
  ).describe('ntfy: the topic.'),
  host: optional(
    z.string().regex(/^[\w.:-]{1,253}$/, { error: 'must be a host name or an address' }),
  ).describe('smtp: the mail server.'),
  port: optional(z.int().min(1).max(65_535)).describe(
    'smtp: its port. Default 587, or 465 for implicit TLS.',
  ),
  tls: optional(z.enum(tlsModes)).describe('smtp: how the connection is encrypted. Default `starttls`.'),
  username: optional(line.min(1).max(255)).describe('smtp: the user; none if omitted.'),
  from: optional(address).describe('smtp: the sender.'),
  to: optional(z.array(address).min(1).max(20)).describe('smtp: the recipients.'),
}

export const CreateChannel = z
  .strictObject({
    name: Name.describe('The name. Unique among channels.'),
    kind: z.enum(channelKinds).describe('The kind of the receiver.'),
    ...filters,
    ...settings,
  })
  .meta({ id: 'CreateNotificationChannel', description: 'A new channel.' })
export type CreateChannel = z.output<typeof CreateChannel>

export const UpdateChannel = z
  .strictObject({ name: optional(Name).describe('The new name.'), ...filters, ...settings })
  .meta({ id: 'UpdateNotificationChannel', description: 'Changes of a channel. Omitted settings stay.' })
export type UpdateChannel = z.output<typeof UpdateChannel>

export const deliveryStates = [
  'queued',
  'folding',
  'sending',
  'waiting',
  'delivered',
  'folded',
  'failed',
  'canceled',
] as const

export const Channel = z
  .object({
    id,
    name: z.string().describe('The name.'),
    kind: z.enum(channelKinds).describe('The kind of the receiver.'),
    enabled: z.boolean().describe('Whether it gets messages.'),
    min_severity: z.enum(noticeSeverities).describe('The lowest severity.'),
    services: z
      .array(z.string())
      .nullable()
      .describe('Names of the services and datastores, ids of deleted ones; null for all.'),
    codes: z.array(z.string()).nullable().describe('Codes of the rules; null for all.'),
    url: text.describe('The address, without its secret part.'),
    secret: text.describe('Masked. Only the response that creates a webhook has its secret.'),
    topic: text.describe('ntfy: the topic.'),
    host: text.describe('smtp: the mail server.'),
    port: whole.describe('smtp: its port.'),
    tls: z.enum(tlsModes).nullable().describe('smtp: how the connection is encrypted.'),
    username: text.describe('smtp: the user.'),
    from: text.describe('smtp: the sender.'),
    to: z.array(z.string()).nullable().describe('smtp: the recipients.'),
    last_delivery: z
      .object({
        id,
        status: z.enum(deliveryStates).describe('As in the delivery.'),
        at: timestamp.describe('When it was created.'),
        error: text.describe('Why it was not delivered.'),
      })
      .nullable()
      .describe('The newest message; null if there was none.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'NotificationChannel', description: 'Where messages to people go.' })
export type Channel = z.output<typeof Channel>

export const DeliveriesQuery = z.strictObject({
  ...pageFields('ntf'),
  channel: identifier.optional().describe('Only those of this channel: its id or name.'),
  state: z.enum(deliveryStates).optional().describe('Only those in this state.'),
})
export type DeliveriesQuery = z.output<typeof DeliveriesQuery>

const Attempt = z
  .object({
    at: timestamp.describe('When it ended.'),
    ms: z.int().describe('How long it took.'),
    response_status: whole.describe('The status that the receiver answered; null without an answer.'),
    error_code: text.describe('Why it failed, for programs; null if it succeeded.'),
    error: text.describe('Why it failed.'),
  })
  .meta({ id: 'NotificationAttempt', description: 'One attempt to send a message.' })

export const Delivery = z
  .object({
    id,
    channel_id: z.string().describe('Id of the channel.'),
    channel: z.string().describe('Name of the channel at that time.'),
    status: z
      .enum(deliveryStates)
      .describe(
        '`queued`: waits for its turn. `folding`: takes along other messages. `waiting`: for the next ' +
          'attempt. `delivered`: accepted by the receiver. `folded`: part of `folded_into`. `failed`: not ' +
          'tried again. `canceled`: its channel was disabled or deleted.',
      ),
    message_id: z.string().describe('The same for each sending; the `webhook-id` of a webhook.'),
    event: z.enum(noticeEvents).describe('What happened.'),
    severity: z.enum(noticeSeverities).describe('How bad it is.'),
    code: z.string().describe('The code of the rule.'),
    title: z.string().describe('One sentence.'),
    messages: z.int().describe('How many messages it stands for, itself included.'),
    folded_into: text.describe('The id of the message that it is part of; null for others.'),
    may_be_repeat: z.boolean().describe('An earlier sending may have arrived.'),
    attempts: z.array(Attempt).describe('The last 20, oldest first.'),
    ...failure,
    next_attempt_at: nextAttemptAt,
    created_at: createdAt,
    finished_at: finishedAt,
    ...recorded,
  })
  .meta({ id: 'NotificationDelivery', description: 'A message to people through one channel.' })
export type Delivery = z.output<typeof Delivery>

// Channels and deliveries in responses. Secrets are masked.
import type { NotificationRecord } from '../../../machines/notification.ts'
import type { CommonRecordFields } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { NotificationChannel } from '../../../storage/notification-channels.ts'
import type { Channel, Delivery } from '../../api/notification.ts'
import { maskedSecret, maskedUrl } from '../../domain/notification-channels.ts'
import { notFound } from '../../errors.ts'
import { finder } from './stored-record.ts'

export const findDelivery = finder<'notification'>('ntf', 'delivery', 'berth notify deliveries lists them')

/** By id or name. Throws `not_found`. */
export function findChannel({ notificationChannels }: Storage, idOrName: string): NotificationChannel {
  const found = notificationChannels.list().find(({ id, name }) => id === idOrName || name === idOrName)
  if (found) return found
  throw notFound('there is no such channel', 'berth notify lists them')
}

export function toChannel(storage: Storage, channel: NotificationChannel): Channel {
  const last = storage.actors.latest('notification', channel.id)
  return {
    ...channel,
    services: channel.services?.map((id) => storage.nameOf(id) ?? id) ?? null,
    url: maskedUrl(channel),
    secret: maskedSecret(channel),
    last_delivery: last && { id: last.id, status: last.status, at: last.created_at, error: last.error },
  }
}

export function toDelivery(record: NotificationRecord & CommonRecordFields): Delivery {
  const { service_id: _, notice, folded: __, ...shown } = record
  const { event, severity, code, title } = notice
  return { ...shown, event, severity, code, title }
}

export function readDelivery({ storage }: { storage: Storage }, id: string): Delivery {
  return toDelivery(findDelivery(storage, id))
}

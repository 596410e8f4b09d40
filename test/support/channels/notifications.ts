// Real notification actors over a real store, and channels to receivers of the test.
import type { TestContext } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import type { Notice } from '../../../src/domain/notice.ts'
import { notificationEffects } from '../../../src/effects/notification/notification.ts'
import { createNotify } from '../../../src/effects/notification/notify.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { Storage } from '../../../storage/index.ts'
import type { NotificationChannel } from '../../../storage/notification-channels.ts'
import { eventually, silentLogger, stopBeforeClose } from '../supervisor/supervision.ts'

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export function channelOf(changes: Partial<NotificationChannel> = {}): NotificationChannel {
  const at = '2026-01-01T00:00:00.000Z'
  const none = { topic: null, host: null, port: null, tls: null, username: null, from: null, to: null }
  const filters = { enabled: true, min_severity: 'info' as const, services: null, codes: null }
  const identity = { id: `chn-${changes.name ?? 'ops'}`, name: 'ops', kind: 'webhook' as const }
  return { ...identity, ...filters, url: null, secret, ...none, created_at: at, updated_at: at, ...changes }
}

let notices = 0

export function noticeOf(changes: Partial<Notice> = {}): Notice {
  notices += 1
  return {
    id: `alt-${notices}:raised`,
    event: 'alert.raised',
    at: new Date(1_780_000_000_000 + notices).toISOString(),
    severity: 'problem',
    code: 'service_memory',
    title: `shop runs out of memory (${notices})`,
    body: 'It uses 98 % of 512 MiB.\n\nberth status shop',
    subject: { kind: 'service', id: 'svc-1', name: 'shop' },
    count: 1,
    link: '/services/shop',
    ...changes,
  }
}

/** A daemon with nothing but notifications. A second one over the same store is its restart. */
export function startNotifications(t: TestContext, storage: Storage) {
  const kinds = { notification: catalogue.notification }
  const supervisor = new Supervisor({ storage, catalogue: kinds, logger: silentLogger })
  const ports = { storage, actors: supervisor, logger: silentLogger }
  const identity = { name: 'berth.example.com', url: 'https://berth.example.com' }
  const effects = notificationEffects({ ...ports, identity })
  supervisor.provide({ notification: effects })
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  const records = (channel = 'chn-ops') => storage.actors.list('notification', channel, 1000)
  return {
    supervisor,
    effects,
    records,
    notify: createNotify(ports),
    /** Waits until every message of the channel has that state. */
    allReach: (...states: string[]) =>
      eventually(`all messages are ${states}`, () =>
        records().length > 0 && records().every(({ status }) => states.includes(status)) ? records() : null,
      ),
  }
}

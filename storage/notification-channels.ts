// Where messages to people go, sealed: addresses of receivers contain secrets, or are ones. They must not
// reach a log, an event or an actor. API responses mask them.
import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import { StorageError } from './store/errors.ts'
import type { Commit, Store } from './store/store.ts'

export interface NotificationChannel {
  id: string
  name: string
  kind: 'webhook' | 'smtp' | 'slack' | 'discord' | 'ntfy'
  enabled: boolean
  min_severity: 'info' | 'warning' | 'problem'
  /** Ids of services and datastores; null for all subjects. */
  services: string[] | null
  /** Codes of rules; null for all. */
  codes: string[] | null
  /** Of a receiver, an incoming webhook, or an ntfy server. */
  url: string | null
  /** The signing secret of a webhook, the password of a mail server, the token of an ntfy server. */
  secret: string | null
  topic: string | null
  host: string | null
  port: number | null
  tls: 'implicit' | 'starttls' | 'none' | null
  username: string | null
  from: string | null
  to: string[] | null
  created_at: string
  updated_at: string
}

export function openNotificationChannels(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<NotificationChannel>(store, sealer, 'notification_channels', 'channel')

  function announce(commit: Commit, id: string, status: string | null): void {
    commit.announce({ kind: 'notification-channel', id, service_id: null, status, revision: null })
  }

  return {
    get: sealed.get,
    /** By age. */
    list: sealed.list,
    /** Throws `name_taken`. */
    put: (channel: NotificationChannel) =>
      store.commit((commit): NotificationChannel => {
        const isTaken = sealed.list().some(({ id, name }) => name === channel.name && id !== channel.id)
        if (isTaken) throw new StorageError('name_taken', `there is a channel ${channel.name} already`)
        sealed.put(channel.id, channel)
        announce(commit, channel.id, null)
        return channel
      }),
    remove: (id: string) =>
      store.commit((commit) => {
        sealed.remove(id)
        announce(commit, id, 'deleted')
      }),
  }
}

// Commits a message to people for each channel that wants it. The same message is committed once.
import { derivedId } from '../../../storage/store/ids.ts'
import type { Notify } from '../../domain/notice.ts'
import { notificationOf, wants } from '../../domain/notification-channels.ts'
import { byServer } from '../by.ts'
import type { SharedPorts } from '../ports.ts'

const maxTries = 8

export function createNotify({ storage, actors }: Pick<SharedPorts, 'storage' | 'actors'>): Notify {
  return async (notice) => {
    const channels = storage.notificationChannels.list().filter((channel) => wants(channel, notice))
    const spawns = channels.map((channel) => {
      const id = derivedId('ntf', Date.parse(notice.at), `${channel.id} ${notice.id}`)
      const input = notificationOf(channel, notice, { id, maxTries })
      return actors.spawn('notification', id, input, { by: byServer('an alert') })
    })
    await Promise.all(spawns)
  }
}

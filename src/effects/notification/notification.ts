// The effects of a message to people: its turn, its sending, and the pause before the next attempt.
import { randomUUID } from 'node:crypto'
import type { machine, SendInput } from '../../../machines/notification.ts'
import type { Effects } from '../../../machines/slot.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { send } from '../../channels/index.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { awaitExpiry } from '../disk/trash.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'
import { Turns } from './turns.ts'

export interface NotificationPorts extends SharedPorts {
  /** Its name in messages, and the address of its pages; null without a host of its own. */
  identity: { name: string; url: string | null }
}

const sendMs = 30_000

export function notificationEffects(ports: NotificationPorts): Effects<typeof machine> {
  const { actors } = ports
  const turns = new Turns(ports.storage)
  // Another process, or the same one after a failed commit, may send again what has arrived.
  const process = randomUUID()
  const begun = new Set<string>()
  return {
    async awaitTurn(request, signal) {
      channelOf(ports, request.channelId)
      return { process, folded: await turns.take(request, signal) }
    },

    async foldOthers({ id, ids }) {
      await Promise.all(ids.map((other) => actors.send(other, { type: 'fold', at: isoNow(), into: id })))
      turns.release(id)
      return { process }
    },

    async sendMessage(input, signal) {
      const key = `${input.id} ${input.tries}`
      const isRepeat = input.mayRepeat || input.process !== process || begun.has(key)
      begun.add(key)
      const sent = await sendOnce(ports, { ...input, mayRepeat: isRepeat }, signal)
      begun.delete(key)
      return { ...sent, isRepeat }
    },

    awaitRetry: awaitExpiry,
  }
}

async function sendOnce(ports: NotificationPorts, input: SendInput, signal: AbortSignal) {
  const startedAt = Date.now()
  const ms = () => Date.now() - startedAt
  const { messageId, notice, folded, mayRepeat } = input
  const { name, url } = ports.identity
  try {
    const channel = channelOf(ports, input.channelId)
    const message = {
      id: messageId,
      notice,
      others: folded,
      mayRepeat,
      server: name,
      url: url && notice.link && new URL(notice.link, url).href,
    }
    const late = new Failure('timeout', `it did not answer within ${duration(sendMs)}`)
    late.with({ may_have_arrived: 1 })
    const status = await withTimeout(sendMs, signal, (bound) => send(channel, message, bound), late)
    return { ms: ms(), status }
  } catch (error) {
    signal.throwIfAborted()
    const facts = error instanceof Failure ? error.facts : {}
    const repeat = mayRepeat ? { may_have_arrived: 1 } : {}
    throw new Failure(codeOf(error), messageOf(error)).with({ ...facts, ...repeat, ms: ms() })
  }
}

/** Throws `channel_gone`. */
function channelOf({ storage }: Pick<NotificationPorts, 'storage'>, id: string) {
  const channel = storage.notificationChannels.get(id)
  if (channel) return channel
  throw new Failure('channel_gone', 'its channel was deleted').with({ is_final: 1 })
}

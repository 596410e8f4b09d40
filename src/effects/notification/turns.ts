// The turns of messages: a channel gets only a few messages per minute. When more of them wait than may be
// sent, the first one takes the others along. It keeps them back until their charts say so.
import type { Folded } from '../../../machines/notification.ts'
import type { Storage } from '../../../storage/index.ts'
import { abortable } from '../../async/abortable.ts'
import { type Notice, urgencyOf } from '../../domain/notice.ts'

const windowMs = 60_000
const maxPerWindow = 4
/** The ids are stored with the message that takes them along. */
const maxFolded = 500
const maxTitles = 10
/** Enough for the attempts of the last minute. */
const maxRecent = 50

interface Waiter {
  id: string
  notice: Notice
  /** What may have arrived keeps its own id, by which receivers drop a repetition. */
  isFresh: boolean
  signal: AbortSignal
  grant: (folded: Folded | null) => void
}

interface Line {
  waiting: Set<Waiter>
  sentAt: number[]
  /** By the id of the message that takes them along, until it has done so. */
  held: Map<string, Set<string>>
  timer: NodeJS.Timeout | null
}

export interface TurnRequest {
  id: string
  channelId: string
  notice: Notice
  tries: number
}

export class Turns {
  readonly #storage: Pick<Storage, 'actors'>
  readonly #lines = new Map<string, Line>()

  constructor(storage: Pick<Storage, 'actors'>) {
    this.#storage = storage
  }

  async take({ id, channelId, notice, tries }: TurnRequest, signal: AbortSignal): Promise<Folded | null> {
    // Someone waits for the outcome.
    if (notice.event === 'test') return null
    const line = this.#lineOf(channelId)
    // It asks again: its last turn was not committed.
    line.held.delete(id)
    const waiter: Waiter = { id, notice, isFresh: tries === 0, signal, grant: () => undefined }
    const granted = new Promise<Folded | null>((grant) => {
      waiter.grant = grant
    })
    line.waiting.add(waiter)
    this.#serve(line)
    try {
      return await abortable(granted, signal)
    } catch (error) {
      line.held.delete(id)
      throw error
    } finally {
      line.waiting.delete(waiter)
    }
  }

  /** The others have ended. */
  release(id: string): void {
    for (const { held } of this.#lines.values()) held.delete(id)
  }

  /** After a restart, what was sent in the last minute still counts. */
  #lineOf(channelId: string): Line {
    const known = this.#lines.get(channelId)
    if (known) return known
    const { actors } = this.#storage
    const recent = actors.list('notification', channelId, maxRecent)
    const sentAt = recent.flatMap(({ attempts }) => attempts.map(({ at }) => Date.parse(at)))
    const active = [...actors.active('notification', channelId)].map(({ id }) =>
      actors.record<'notification'>(id),
    )
    const held = new Map<string, Set<string>>()
    for (const record of active) {
      if (record?.status === 'folding') held.set(record.id, new Set(record.folded!.ids))
    }
    const line: Line = { waiting: new Set(), sentAt: sentAt.sort((a, b) => a - b), held, timer: null }
    this.#lines.set(channelId, line)
    return line
  }

  #serve(line: Line): void {
    const now = Date.now()
    // A clock that was set back must not keep messages back for longer.
    line.sentAt = line.sentAt.filter((at) => at > now - windowMs && at <= now)
    if (line.sentAt.length < maxPerWindow) this.#grantTurns(line, now)
    clearTimeout(line.timer ?? undefined)
    line.timer = null
    if (line.waiting.size === 0 || line.sentAt.length === 0) return
    const pauseMs = Math.max(10, line.sentAt[0]! + windowMs - now)
    line.timer = setTimeout(() => this.#serve(line), pauseMs).unref()
  }

  #grantTurns(line: Line, now: number): void {
    const held = new Set([...line.held.values()].flatMap((ids) => [...ids]))
    // A message that has just ended is still in line.
    let ready = [...line.waiting].filter(({ id, signal }) => !signal.aborted && !held.has(id))
    while (ready.length > 0 && line.sentAt.length < maxPerWindow) {
      const [next, ...rest] = ready as [Waiter, ...Waiter[]]
      const isCrowded = ready.length > maxPerWindow - line.sentAt.length
      const others =
        isCrowded && next.isFresh ? rest.filter(({ isFresh }) => isFresh).slice(0, maxFolded) : []
      const taken = new Set(others)
      ready = rest.filter((waiter) => !taken.has(waiter))
      if (others.length > 0) line.held.set(next.id, new Set(others.map(({ id }) => id)))
      line.waiting.delete(next)
      line.sentAt.push(now)
      next.grant(others.length > 0 ? toFolded(others) : null)
    }
  }
}

function toFolded(others: Waiter[]): Folded {
  const countOf = (urgency: Notice['severity']) =>
    others.filter(({ notice }) => urgencyOf(notice) === urgency).length
  return {
    ids: others.map(({ id }) => id),
    problems: countOf('problem'),
    warnings: countOf('warning'),
    infos: countOf('info'),
    titles: others.slice(0, maxTitles).map(({ notice }) => notice.title),
  }
}

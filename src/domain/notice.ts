// A message for people about something that happened on the server.

export const noticeEvents = ['alert.raised', 'alert.acknowledged', 'alert.recovered', 'test'] as const

/** In ascending order. */
export const noticeSeverities = ['info', 'warning', 'problem'] as const
export type NoticeSeverity = (typeof noticeSeverities)[number]

export interface Notice {
  /** Stable, such as `ALERT:raised`: a message with a known id is not sent again. */
  id: string
  event: (typeof noticeEvents)[number]
  /** ISO time, the same for each message with this id. */
  at: string
  /** Of the alert, also when it ends: who learned of it learns of its end. */
  severity: NoticeSeverity
  /** The code of the alert's rule, such as `service_memory`. */
  code: string
  /** One sentence. */
  title: string
  /** A few lines, which end with the command that shows more. */
  body: string
  /** A service, datastore, domain or the host. */
  subject: { kind: string; id: string; name: string } | null
  /** How many equal events this message stands for. */
  count: number
  /** A path of the dashboard. */
  link: string | null
}

/** How urgent the message is. The end of an alert is good news. */
export function urgencyOf({ event, severity }: Pick<Notice, 'event' | 'severity'>): NoticeSeverity {
  return event === 'alert.raised' ? severity : 'info'
}

/** Resolves when the message is committed; it is delivered afterwards. */
export type Notify = (notice: Notice) => Promise<void>

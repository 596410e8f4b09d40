// An alert: a rule that is broken for one subject, from its first event until the rule is kept again. Equal
// events are counted. Messages report the first, a few summaries of more, and the end.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const discarded = { status: 'recovered' } as const

export type AlertSeverity = 'problem' | 'warning' | 'info'

/** What is wrong, in the words of its newest event. */
export interface AlertFacts {
  severity: AlertSeverity
  title: string
  body: string
  /** Shows more. Missing in alerts without one. */
  command?: string | undefined
}

export interface AlertSubject {
  kind: string
  id: string
  name: string
}

export interface AlertInput extends AlertFacts {
  id: string
  rule: string
  subject: AlertSubject
  /** The service or datastore whose readers see the alert; null for the server. */
  serviceId: string | null
  link: string | null
  /** How many equal events raised it. */
  count: number
  /** The newest of them in the feed; null without one. */
  number: number | null
  /** How long the rule must be kept before the alert ends. */
  calmMs: number
  /** It ends by itself when nothing follows: nothing can show that the rule is kept again. */
  fades: boolean
  /** How often the same alert was raised again shortly after its end. */
  flaps: number
  at: string
}

export type AlertEvent =
  | ({ type: 'repeat'; at: string; count: number; number: number | null } & AlertFacts)
  | { type: 'clear'; at: string; number: number | null; reason: string | null; isFinal: boolean }
  | { type: 'acknowledge'; at: string; by: string }

type Repeat = Extract<AlertEvent, { type: 'repeat' }>
type Clear = Extract<AlertEvent, { type: 'clear' }>

interface AlertContext extends AlertInput {
  lastAt: string
  /** How many events the messages have reported. */
  told: number
  toldSeverity: AlertSeverity | null
  toldAt: string | null
  messages: number
  acknowledgedAt: string | null
  acknowledgedBy: string | null
  /** Since when the rule is kept; null while it is broken. */
  clearedAt: string | null
  reason: string | null
  recoveredAt: string | null
}

/** `what` and the count make the message unique. */
export interface Announcement extends SlotInput, AlertFacts {
  what: 'raised' | 'acknowledged' | 'recovered'
  rule: string
  subject: AlertSubject
  link: string | null
  isFirst: boolean
  count: number
  since: string
  at: string
}

const minuteMs = 60_000
/** From the last message to a summary of further events. */
const pausesMs = [minuteMs, 60 * minuteMs, 24 * 60 * minuteMs]

const severities = ['info', 'warning', 'problem']

const alert = setup({
  types: {} as { context: AlertContext; input: AlertInput; events: AlertEvent },
  actors: {
    announce: slot<Announcement, SlotOutput>(),
    awaitInstant: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
  },
  guards: {
    isWorse: ({ context }, { severity }: Repeat) =>
      severities.indexOf(severity) > severities.indexOf(context.toldSeverity ?? severity),
    // An alert that fades is kept from the start: further events are reported first.
    isRuleKept: ({ context: { clearedAt, fades, count, told, acknowledgedAt } }) =>
      clearedAt !== null && (!fades || count <= told || acknowledgedAt !== null),
    isFinal: (_, { isFinal }: Clear) => isFinal,
    isAcknowledged: ({ context }) => context.acknowledgedAt !== null,
    hasMore: ({ context }) => context.count > context.told,
    fades: ({ context }) => context.fades,
  },
  actions: {
    recordRepeat: assign(({ context }, event: Repeat) => ({
      severity: event.severity,
      title: event.title,
      body: event.body,
      command: event.command,
      count: context.count + event.count,
      number: event.number ?? context.number,
      lastAt: event.at,
      clearedAt: context.fades ? event.at : null,
    })),
    recordClear: assign(({ context }, { at, number, reason, isFinal }: Clear) => ({
      clearedAt: at,
      number: number ?? context.number,
      reason,
      ...(isFinal && { calmMs: 0 }),
    })),
    recordTold: assign(({ context }, { at }: SlotOutput) => ({
      told: context.count,
      toldSeverity: context.severity,
      toldAt: at,
      messages: context.messages + 1,
    })),
    recordAcknowledgement: assign((_, { at, by }: { at: string; by: string }) => ({
      acknowledgedAt: at,
      acknowledgedBy: by,
    })),
    recordEnd: assign((_, { at }: SlotOutput) => ({ recoveredAt: at })),
  },
})

const outputOf = ({ event }: { event: { output: SlotOutput } }) => event.output

const announcement = (what: Announcement['what']) => ({
  id: 'announce',
  src: 'announce' as const,
  input: ({ context }: { context: AlertContext }): Announcement => ({
    id: context.id,
    what,
    rule: context.rule,
    subject: context.subject,
    link: context.link,
    severity: context.severity,
    title: context.title,
    body: context.reason !== null && what === 'recovered' ? context.reason : context.body,
    command: what === 'raised' ? context.command : undefined,
    isFirst: context.messages === 0,
    count: context.count,
    since: context.at,
    at: whenOf(what, context),
  }),
})

function whenOf(what: Announcement['what'], { acknowledgedAt, clearedAt, lastAt }: AlertContext): string {
  if (what === 'acknowledged') return acknowledgedAt ?? lastAt
  return what === 'recovered' ? (clearedAt ?? lastAt) : lastAt
}

const wait = (untilOf: (context: AlertContext) => number) => ({
  id: 'awaitInstant',
  src: 'awaitInstant' as const,
  input: ({ context }: { context: AlertContext }) => ({ id: context.id, wakeAt: untilOf(context) }),
})

/** Keeps the state: the message that is under way goes out. */
const recorded = {
  repeat: { actions: { type: 'recordRepeat', params: ({ event }: { event: Repeat }) => event } },
  clear: { actions: { type: 'recordClear', params: ({ event }: { event: Clear }) => event } },
} as const

const worse = {
  guard: { type: 'isWorse', params: ({ event }: { event: Repeat }) => event },
  target: '#announcing',
  actions: recorded.repeat.actions,
} as const

const acknowledged = {
  type: 'recordAcknowledgement',
  params: ({ event }: { event: { at: string; by: string } }) => event,
} as const

export const machine = alert.createMachine({
  id: 'alert',
  description: 'Reports a broken rule, counts what follows, and reports its end.',
  context: ({ input }) => ({
    ...input,
    lastAt: input.at,
    told: 0,
    toldSeverity: null,
    toldAt: null,
    messages: 0,
    acknowledgedAt: null,
    acknowledgedBy: null,
    clearedAt: input.fades ? input.at : null,
    reason: null,
    recoveredAt: null,
  }),
  initial: 'announcing',
  states: {
    announcing: {
      description: 'Reports what is wrong, and how often it happened.',
      id: 'announcing',
      invoke: {
        ...announcement('raised'),
        onDone: {
          target: 'sorting',
          actions: { type: 'recordTold', params: outputOf },
        },
      },
      on: { ...recorded, acknowledge: { actions: acknowledged } },
    },
    sorting: {
      description: 'Decides by what happened during the last message.',
      always: [
        { guard: 'isRuleKept', target: 'settling' },
        { guard: 'isAcknowledged', target: 'acknowledged' },
        { target: 'raised' },
      ],
    },
    raised: {
      description: 'The rule is broken.',
      initial: 'counting',
      on: {
        repeat: [worse, { ...recorded.repeat, target: '.counting' }],
        clear: { ...recorded.clear, target: 'settling' },
        acknowledge: { target: 'confirming', actions: acknowledged },
      },
      states: {
        counting: {
          description: 'Decides whether a summary is due.',
          always: [{ guard: 'hasMore', target: 'gathering' }, { target: 'quiet' }],
        },
        quiet: { description: 'Nothing happened since the last message.' },
        gathering: {
          description: 'Counts events until the next summary.',
          on: { repeat: [worse, recorded.repeat] },
          invoke: { ...wait(summaryAt), onDone: '#announcing' },
        },
      },
    },
    confirming: {
      description: 'Reports that a user takes care of it.',
      invoke: { ...announcement('acknowledged'), onDone: 'sorting' },
      on: recorded,
    },
    acknowledged: {
      description: 'A user takes care of it. No summaries are sent.',
      on: {
        repeat: [worse, recorded.repeat],
        clear: { ...recorded.clear, target: 'settling' },
      },
    },
    settling: {
      description: 'The rule is kept. Waits whether it stays so.',
      invoke: {
        ...wait(({ clearedAt, calmMs }) => Date.parse(clearedAt!) + calmMs),
        onDone: [
          {
            guard: 'fades',
            target: 'recovered',
            actions: { type: 'recordEnd', params: outputOf },
          },
          { target: 'recovering' },
        ],
      },
      on: {
        repeat: [worse, { ...recorded.repeat, target: 'sorting' }],
        clear: {
          ...recorded.clear,
          guard: { type: 'isFinal', params: ({ event }: { event: Clear }) => event },
          target: 'settling',
          reenter: true,
        },
        acknowledge: { target: 'confirming', actions: acknowledged },
      },
    },
    recovering: {
      description: 'Reports that the rule is kept again.',
      invoke: {
        ...announcement('recovered'),
        onDone: {
          target: 'recovered',
          actions: { type: 'recordEnd', params: outputOf },
        },
      },
    },
    recovered: { description: 'The rule is kept again.', type: 'final' },
  },
})

function summaryAt({ toldAt, lastAt, messages }: AlertContext): number {
  return Date.parse(toldAt ?? lastAt) + pausesMs[Math.min(messages, pausesMs.length) - 1]!
}

export type AlertSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: AlertSnapshot) {
  const { context } = snapshot
  return {
    id: context.id,
    service_id: context.serviceId,
    status: statusOf(snapshot),
    rule: context.rule,
    severity: context.severity,
    title: context.title,
    body: context.body,
    command: context.command ?? null,
    subject: context.subject,
    link: context.link,
    count: context.count,
    flaps: context.flaps,
    /** Of the newest event in the feed that it counts; not shown. */
    number: context.number,
    created_at: context.at,
    last_at: context.lastAt,
    acknowledged_at: context.acknowledgedAt,
    acknowledged_by: context.acknowledgedBy,
    cleared_at: context.clearedAt,
    recovered_at: context.recoveredAt,
  }
}

export type AlertRecord = ReturnType<typeof toRecord>

function statusOf({ value, context }: AlertSnapshot): 'raised' | 'acknowledged' | 'recovered' {
  if (value === 'recovering' || value === 'recovered') return 'recovered'
  return context.acknowledgedAt === null ? 'raised' : 'acknowledged'
}

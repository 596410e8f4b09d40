// The certificate of one host: ordered once the host resolves to this server, renewed, and released with
// its route. While a renewal fails the old certificate stays in use: the status describes the old one, the
// error the renewal.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { toErrorCode } from './error-codes.ts'
import { failureOf, type SlotFailure, type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 1

export const held = ['checkHost', 'obtainCertificate', 'keepWatch'] as const

export const cleanups = ['releaseCertificate'] as const

export const discarded = { status: 'released' } as const

export interface CertificateInput {
  id: string
  /** Null for the server's own host. */
  serviceId: string | null
  host: string
  at: string
}

export interface CertificateProblem {
  code: string
  message: string
  hint: string | null
  /** The CA accepts no request before this time. */
  retryAt: string | null
}

export interface CertificateValidity {
  notBefore: string
  notAfter: string
  /** The CA that issued it. The certificate is replaced when another CA is configured. */
  directoryUrl: string
}

export type CertificateEvent = { type: 'retry'; at: string; by: string }

interface CertificateContext extends CertificateInput {
  validity: CertificateValidity | null
  isExpired: boolean
  /** Since the last certificate. */
  attempts: number
  /** How often the same problem occurred in a row. */
  repeats: number
  trouble: CertificateProblem | null
  nextAttemptAt: string | null
  /** The last expiry warning that was sent, in days before the expiry. */
  warnedDays: number | null
}

interface HostInput extends SlotInput {
  serviceId: string | null
  host: string
}

export interface WatchInput extends HostInput {
  /** When the next attempt is due; RFC 3339. */
  until: string
  validity: CertificateValidity | null
  isExpired: boolean
  warnedDays: number | null
  /** Whether a certificate of a CA that is not configured is due immediately. False between attempts. */
  mayReplace: boolean
}

interface CheckOutput extends SlotOutput {
  isRouted: boolean
  /** Null when the host resolves to this server. */
  trouble: CertificateProblem | null
}

interface OrderOutput extends SlotOutput {
  validity: CertificateValidity | null
  trouble: CertificateProblem | null
}

export interface WatchOutput extends SlotOutput {
  news: 'due' | 'unrouted' | 'expired' | 'warned' | 'lost'
  warnedDays: number | null
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Backoff per problem code: each pause is twice the one before, up to the longest. */
const pauses: Record<string, [firstMs: number, longestMs: number]> = {
  acme_rate_limited: [hourMs, 12 * hourMs],
  acme_rejected: [15 * minuteMs, 12 * hourMs],
  // CAs limit failed validations: Let's Encrypt refuses a host after five in an hour.
  acme_challenge_failed: [15 * minuteMs, 12 * hourMs],
}
const otherPauses: [firstMs: number, longestMs: number] = [minuteMs, hourMs]

const certificate = setup({
  types: {} as { context: CertificateContext; input: CertificateInput; events: CertificateEvent },
  actors: {
    checkHost: slot<HostInput, CheckOutput>(),
    obtainCertificate: slot<HostInput, OrderOutput>(),
    installCertificate: slot<HostInput, SlotOutput>(),
    keepWatch: slot<WatchInput, WatchOutput>(),
    releaseCertificate: slot<HostInput, SlotOutput>(),
  },
  guards: {
    isUnrouted: (_, output: CheckOutput) => !output.isRouted,
    isTroubled: (_, output: CheckOutput | OrderOutput) => output.trouble !== null,
    isGone: (_, output: WatchOutput) => output.news === 'unrouted',
    isDue: (_, output: WatchOutput) => output.news === 'due',
    mayAsk: ({ context: { trouble } }, { at }: { at: string }) =>
      trouble?.retryAt == null || Date.parse(trouble.retryAt) <= Date.parse(at),
  },
  actions: {
    begin: assign(({ context }) => ({ attempts: context.attempts + 1, nextAttemptAt: null })),
    recordTrouble: assign(({ context }, { at, trouble }: CheckOutput | OrderOutput) =>
      withProblem(context, at, trouble!),
    ),
    recordFailure: assign(({ context }, { code, message, at }: SlotFailure) =>
      withProblem(context, at, { code, message, hint: null, retryAt: null }),
    ),
    recordValidity: assign((_, { validity }: OrderOutput) => ({
      validity,
      isExpired: false,
      attempts: 0,
      repeats: 0,
      trouble: null,
      warnedDays: null,
    })),
    recordNews: assign(({ context }, { news, warnedDays }: WatchOutput) => ({
      validity: news === 'lost' ? null : context.validity,
      isExpired: (context.isExpired || news === 'expired') && news !== 'lost',
      warnedDays: warnedDays ?? context.warnedDays,
    })),
  },
})

const hostOf = ({ context: { id, serviceId, host } }: { context: CertificateContext }) => ({
  id,
  serviceId,
  host,
})
const watchOf = (until: (context: CertificateContext) => string, mayReplace: boolean) => {
  return ({ context }: { context: CertificateContext }): WatchInput => ({
    ...hostOf({ context }),
    until: until(context),
    validity: context.validity,
    isExpired: context.isExpired,
    warnedDays: context.warnedDays,
    mayReplace,
  })
}
const output = <Output>() => ({ params: ({ event }: { event: { output: Output } }) => event.output })
const failed = {
  target: 'waiting',
  actions: {
    type: 'recordFailure',
    params: failureOf,
  },
} as const

export const machine = certificate.createMachine({
  id: 'certificate',
  description: 'Obtains the certificate of a host, renews it, and releases it with the host.',
  context: ({ input }) => ({
    ...input,
    validity: null,
    isExpired: false,
    attempts: 0,
    repeats: 0,
    trouble: null,
    nextAttemptAt: null,
    warnedDays: null,
  }),
  initial: 'checking',
  states: {
    checking: {
      description: 'Checks that the host is in use and resolves to this server.',
      entry: 'begin',
      invoke: {
        id: 'checkHost',
        src: 'checkHost',
        input: hostOf,
        onDone: [
          { guard: { type: 'isUnrouted', ...output<CheckOutput>() }, target: 'releasing' },
          {
            guard: { type: 'isTroubled', ...output<CheckOutput>() },
            target: 'waiting',
            actions: { type: 'recordTrouble', ...output<CheckOutput>() },
          },
          { target: 'ordering' },
        ],
        onError: failed,
      },
    },
    ordering: {
      description: 'Orders the certificate from the authority.',
      invoke: {
        id: 'obtainCertificate',
        src: 'obtainCertificate',
        input: hostOf,
        onDone: [
          {
            guard: { type: 'isTroubled', ...output<OrderOutput>() },
            target: 'waiting',
            actions: { type: 'recordTrouble', ...output<OrderOutput>() },
          },
          { target: 'installing', actions: { type: 'recordValidity', ...output<OrderOutput>() } },
        ],
        onError: failed,
      },
    },
    installing: {
      description: 'Gives the certificate to the edge.',
      invoke: { id: 'installCertificate', src: 'installCertificate', input: hostOf, onDone: 'valid' },
    },
    valid: {
      description: 'In use. Watches it until its renewal is due.',
      invoke: {
        id: 'keepWatch',
        src: 'keepWatch',
        input: watchOf(({ validity }) => renewalOf(validity!), true),
        onDone: [
          { guard: { type: 'isGone', ...output<WatchOutput>() }, target: 'releasing' },
          { target: 'checking', actions: { type: 'recordNews', ...output<WatchOutput>() } },
        ],
      },
    },
    waiting: {
      description: 'An attempt failed. Waits before the next one; an old certificate stays.',
      on: { retry: { guard: { type: 'mayAsk', params: ({ event }) => event }, target: 'checking' } },
      invoke: {
        id: 'keepWatch',
        src: 'keepWatch',
        input: watchOf(({ nextAttemptAt }) => nextAttemptAt!, false),
        onDone: [
          { guard: { type: 'isGone', ...output<WatchOutput>() }, target: 'releasing' },
          { guard: { type: 'isDue', ...output<WatchOutput>() }, target: 'checking' },
          { target: 'waiting', reenter: true, actions: { type: 'recordNews', ...output<WatchOutput>() } },
        ],
      },
    },
    releasing: {
      description: 'The host is no longer in use: removes its certificate.',
      invoke: { id: 'releaseCertificate', src: 'releaseCertificate', input: hostOf, onDone: 'released' },
    },
    released: { description: 'The certificate is removed.', type: 'final' },
  },
})

export type CertificateSnapshot = SnapshotFrom<typeof machine>

function withProblem(context: CertificateContext, at: string, trouble: CertificateProblem) {
  const repeats = context.trouble?.code === trouble.code ? context.repeats + 1 : 1
  const [firstMs, longestMs] = pauses[trouble.code] ?? otherPauses
  const pauseMs = Math.min(longestMs, firstMs * 2 ** Math.min(repeats - 1, 20))
  const ownMs = Date.parse(at) + pauseMs
  const askedMs = trouble.retryAt === null ? 0 : Date.parse(trouble.retryAt)
  return { trouble, repeats, nextAttemptAt: new Date(Math.max(ownMs, askedMs)).toISOString() }
}

/** The renewal is due after two thirds of the lifetime. */
export function renewalOf({ notBefore, notAfter }: CertificateValidity): string {
  const beginMs = Date.parse(notBefore)
  return new Date(beginMs + ((Date.parse(notAfter) - beginMs) * 2) / 3).toISOString()
}

/** Failed attempts after which the hosts below a wildcard get certificates of their own. */
const fallbackAfter = 3
/** Failures of a wildcard's order that orders for single hosts may not have. */
const wildcardFailures = ['dns_failed', 'acme_rejected', 'acme_challenge_failed']
const fallbackNotice = 'until it is issued, the hosts below it get certificates of their own'

export function toRecord(snapshot: CertificateSnapshot) {
  const { id, serviceId, host, validity, trouble, nextAttemptAt, attempts, at } = snapshot.context
  const isWorking = ['checking', 'ordering', 'installing'].includes(snapshot.value)
  const fallback = fallsBack(snapshot, isWorking ? attempts - 1 : attempts)
  return {
    id,
    service_id: serviceId,
    host,
    status: statusOf(snapshot),
    /** The current step, also while an older certificate is valid. */
    phase: isWorking ? snapshot.value : null,
    error: trouble && (fallback ? `${trouble.message}; ${fallbackNotice}` : trouble.message),
    error_code: trouble && toErrorCode(trouble.code),
    hint: trouble?.hint ?? null,
    not_before: validity?.notBefore ?? null,
    not_after: validity?.notAfter ?? null,
    next_attempt_at: nextAttemptAt,
    renews_at: validity && renewalOf(validity),
    attempts,
    fallback,
    created_at: at,
  }
}

/** Whether the hosts below a missing or expired wildcard get their own certificates. */
function fallsBack({ context }: CertificateSnapshot, failures: number): boolean {
  const { host, trouble, validity, isExpired } = context
  const isMissing = host.startsWith('*.') && (validity === null || isExpired)
  return isMissing && failures >= fallbackAfter && wildcardFailures.includes(trouble?.code ?? '')
}

export type CertificateRecord = ReturnType<typeof toRecord>

function statusOf({ value, context }: CertificateSnapshot) {
  if (value === 'releasing' || value === 'released') return 'released'
  if (context.isExpired) return 'expired'
  if (value === 'waiting' && !context.validity) return 'waiting'
  return context.validity ? 'valid' : value
}

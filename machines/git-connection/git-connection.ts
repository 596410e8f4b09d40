// A connection to an account at a git provider. It is pending until the account has authorized it in a
// browser, unless it starts with a token that was already accepted. It contains no secret: effects find the
// secrets in the store, under this actor's id.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { problemFields, problemOf } from '../problem.ts'
import { failureOf, type SlotFailure, type SlotInput, type SlotOutput, slot } from '../slot.ts'
import {
  connectedContext,
  contextAfter,
  type ExchangeOutput,
  type GitAccount,
  type GitApp,
  type GitAuth,
  type GitConnectionContext,
  type GitConnectionEvent,
  type GitConnectionInput,
  type InvalidReason,
  type RenewalOutput,
  type Resting,
  renewalOf,
  retryOf,
} from './git-connection-context.ts'

export const version = 1

export const held = ['awaitRenewal', 'renewTokens'] as const

export const cleanups = ['removeSecrets'] as const

export const readers = ['exchangeGrant', 'renewTokens'] as const

export const discarded = { status: 'deleted' } as const

/** An authorization that is never finished in the browser ends after this time. */
const pendingMs = 24 * 60 * 60 * 1000

const connection = setup({
  types: {} as { context: GitConnectionContext; input: GitConnectionInput; events: GitConnectionEvent },
  actors: {
    awaitExpiry: slot<SlotInput & { wakeAt: number }, SlotOutput>(),
    exchangeGrant: slot<SlotInput, ExchangeOutput>(),
    awaitRenewal: slot<SlotInput & { wakeAt: number | null }, SlotOutput>(),
    renewTokens: slot<SlotInput, RenewalOutput>(),
    removeSecrets: slot<SlotInput, SlotOutput>(),
  },
  guards: {
    startsConnected: ({ context }) => context.account !== null,
    startsWithApp: ({ context }) => context.auth === 'github_app',
    wasConnected: ({ context }) => context.resting === 'connected',
    wasInvalid: ({ context }) => context.resting === 'invalid',
    wasInstalling: ({ context }) => context.resting === 'installing',
    wasRegistering: ({ context }) => context.resting === 'registering',
    isConnected: (_, { result }: ExchangeOutput) => result === 'connected',
    isRegistered: (_, { result }: ExchangeOutput) => result === 'registered',
    isMergedAway: ({ context }, { result }: ExchangeOutput) =>
      result === 'merged' && context.account === null,
    isExpiring: ({ context }) => context.auth === 'token',
    isRejected: (_, { code }: SlotFailure) => code === 'git_authorization_rejected',
  },
  actions: {
    beginExchange: assign((_, resting: Resting) => ({ resting, problem: null, mergedInto: null })),
    recordExchange: assign(({ context }, output: ExchangeOutput) => contextAfter(context, output)),
    recordProblem: assign((_, failure: SlotFailure) => ({ problem: problemOf(failure) })),
    recordReplacement: assign(
      ({ context }, event: { at: string; auth: GitAuth; account: GitAccount; app: GitApp | null }) => ({
        ...connectedContext(event.account, event.at),
        auth: event.auth,
        app: event.app ?? (event.auth === 'github_app' ? context.app : null),
      }),
    ),
    recordRenewal: assign(({ context }, { accessExpiresAt, at }: RenewalOutput) => ({
      account: { ...context.account!, accessExpiresAt },
      renewAt: renewalOf(accessExpiresAt, at),
      failedRenewals: 0,
      problem: null,
    })),
    recordFailedRenewal: assign(({ context }, failure: SlotFailure) => ({
      problem: problemOf(failure),
      failedRenewals: context.failedRenewals + 1,
      renewAt: retryOf(failure.at, context.failedRenewals),
    })),
    recordReports: assign((_, { reportDeploys }: { reportDeploys: boolean }) => ({ reportDeploys })),
    invalidate: assign((_, { reason, message }: { reason: InvalidReason; message: string }) => ({
      invalidReason: reason,
      problem: { code: 'git_authorization_rejected', message },
    })),
  },
})

const slotInput = ({ context: { id } }: { context: GitConnectionContext }) => ({ id })
const pending = ({ context: { id, at } }: { context: GitConnectionContext }) => ({
  id,
  wakeAt: Date.parse(at) + pendingMs,
})

const callbackFrom = (resting: Resting) =>
  ({ target: '#exchanging', actions: { type: 'beginExchange', params: resting } }) as const
const expired = { reason: 'expired', message: 'the token of this connection has expired' } as const

const replaced = {
  target: '#connected',
  actions: {
    type: 'recordReplacement',
    params: ({ event }: { event: Extract<GitConnectionEvent, { type: 'replace' }> }) => event,
  },
} as const

/** The states before an exchange, for an exchange that left the connection as it was. */
const backToRest = [
  { guard: 'wasConnected', target: '#connected' },
  { guard: 'wasInvalid', target: '#invalid' },
  { guard: 'wasInstalling', target: '#installing' },
  { guard: 'wasRegistering', target: '#registering' },
  { target: '#authorizing' },
] as const

export const machine = connection.createMachine({
  id: 'git-connection',
  description: 'An account at a git provider: its authorization, its tokens, its end.',
  context: ({ input }) => ({
    ...input,
    app: null,
    resting: 'connected',
    invalidReason: null,
    problem: null,
    mergedInto: null,
    failedRenewals: 0,
    renewAt: input.account && connectedContext(input.account, input.at).renewAt,
    updatedAt: input.at,
  }),
  initial: 'starting',
  on: {
    delete: '.removing',
    replace: replaced,
    'reports.set': { actions: { type: 'recordReports', params: ({ event }) => event } },
  },
  states: {
    starting: {
      description: 'Decides what it needs: nothing, an app, or an authorization.',
      always: [
        { guard: 'startsConnected', target: 'connected' },
        { guard: 'startsWithApp', target: 'pending.registering' },
        { target: 'pending.authorizing' },
      ],
    },
    pending: {
      description: 'Waits for a person who finishes the authorization in a browser.',
      initial: 'authorizing',
      states: {
        registering: {
          description: 'Waits until the app is registered at the provider.',
          id: 'registering',
          invoke: { id: 'awaitExpiry', src: 'awaitExpiry', input: pending, onDone: '#removing' },
          on: { callback: callbackFrom('registering') },
        },
        /** The app exists at the provider, so this state does not expire. */
        installing: {
          description: 'The app exists. Waits until it is installed on an account.',
          id: 'installing',
          on: { callback: callbackFrom('installing') },
        },
        authorizing: {
          description: 'Waits until the account has authorized Berth.',
          id: 'authorizing',
          invoke: { id: 'awaitExpiry', src: 'awaitExpiry', input: pending, onDone: '#removing' },
          on: { callback: callbackFrom('authorizing') },
        },
      },
    },
    exchanging: {
      description: 'The browser returned: exchanges its grant for tokens.',
      id: 'exchanging',
      invoke: {
        id: 'exchangeGrant',
        src: 'exchangeGrant',
        input: slotInput,
        onDone: [
          {
            guard: { type: 'isConnected', params: ({ event }) => event.output },
            target: 'connected',
            actions: { type: 'recordExchange', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isRegistered', params: ({ event }) => event.output },
            target: 'pending.installing',
            actions: { type: 'recordExchange', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isMergedAway', params: ({ event }) => event.output },
            target: 'removing',
            actions: { type: 'recordExchange', params: ({ event }) => event.output },
          },
          {
            target: 'merged',
            actions: { type: 'recordExchange', params: ({ event }) => event.output },
          },
        ],
        onError: {
          target: 'rejected',
          actions: { type: 'recordProblem', params: failureOf },
        },
      },
    },
    /** Another account was authorized: this connection stays as it was. */
    merged: {
      description: 'Another account was authorized. This connection stays as it was.',
      always: [...backToRest],
    },
    rejected: {
      description: 'The provider refused the grant. The connection stays as it was.',
      always: [...backToRest],
    },
    connected: {
      description: 'Sources can be cloned with this account.',
      id: 'connected',
      initial: 'idle',
      on: {
        callback: callbackFrom('connected'),
        invalidate: { target: '#invalid', actions: { type: 'invalidate', params: ({ event }) => event } },
      },
      states: {
        idle: {
          description: 'Waits until its tokens must be renewed.',
          on: { renew: 'renewing' },
          invoke: {
            id: 'awaitRenewal',
            src: 'awaitRenewal',
            input: ({ context: { id, renewAt } }) => ({
              id,
              wakeAt: renewAt === null ? null : Date.parse(renewAt),
            }),
            onDone: [
              {
                guard: 'isExpiring',
                target: '#invalid',
                actions: { type: 'invalidate', params: expired },
              },
              { target: 'renewing' },
            ],
          },
        },
        renewing: {
          description: 'Renews the tokens.',
          invoke: {
            id: 'renewTokens',
            src: 'renewTokens',
            input: slotInput,
            onDone: {
              target: 'idle',
              actions: { type: 'recordRenewal', params: ({ event }) => event.output },
            },
            onError: [
              {
                guard: { type: 'isRejected', params: failureOf },
                target: '#invalid',
                actions: {
                  type: 'invalidate',
                  params: ({ event }) => ({
                    reason: 'revoked' as const,
                    message: failureOf({ event }).message,
                  }),
                },
              },
              {
                target: 'idle',
                actions: { type: 'recordFailedRenewal', params: failureOf },
              },
            ],
          },
        },
      },
    },
    invalid: {
      description: 'The provider refuses it. Waits for a new authorization.',
      id: 'invalid',
      on: { callback: callbackFrom('invalid') },
    },
    removing: {
      description: 'Removes the account with its secrets.',
      id: 'removing',
      on: { replace: undefined, delete: undefined, 'reports.set': undefined },
      invoke: { id: 'removeSecrets', src: 'removeSecrets', input: slotInput, onDone: 'deleted' },
    },
    deleted: { description: 'Removed with its secrets.', type: 'final' },
  },
})

export type GitConnectionSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: GitConnectionSnapshot) {
  const { context } = snapshot
  const { account, app } = context
  return {
    id: context.id,
    status: statusOf(snapshot),
    phase: phaseOf(snapshot),
    invalid_reason: statusOf(snapshot) === 'invalid' ? context.invalidReason : null,
    ...problemFields(context.problem),
    provider: context.provider,
    base_url: context.baseUrl,
    auth: context.auth,
    account: account?.login ?? (context.auth === 'github_app' ? context.organization : null),
    account_name: account?.name ?? null,
    app_slug: app?.slug ?? null,
    app_url: app?.url ?? null,
    manage_url: account?.manageUrl ?? null,
    client_id: app?.clientId ?? context.clientId,
    repository_selection: account?.repositorySelection ?? null,
    scopes: account?.scopes ?? [],
    token_expires_at: account?.tokenExpiresAt ?? null,
    token_hint: account?.tokenHint ?? null,
    report_deploys: context.reportDeploys ?? false,
    created_at: context.at,
    updated_at: context.updatedAt,
    /** The last three are not shown. */
    organization: context.organization,
    installation_id: account?.installationId ?? null,
    access_expires_at: account?.accessExpiresAt ?? null,
    merged_into: context.mergedInto,
  }
}

export type GitConnectionRecord = ReturnType<typeof toRecord>

/** During an exchange a connection has the status that it had before. */
function statusOf(snapshot: GitConnectionSnapshot) {
  const { resting } = snapshot.context
  if (snapshot.matches('removing') || snapshot.matches('deleted')) return 'deleted'
  const isExchanging = snapshot.matches('exchanging')
  if (snapshot.matches('invalid') || (isExchanging && resting === 'invalid')) return 'invalid'
  return snapshot.matches('connected') || (isExchanging && resting === 'connected') ? 'connected' : 'pending'
}

type GitPhase = 'registering' | 'installing' | 'authorizing' | 'exchanging' | 'renewing'

function phaseOf(snapshot: GitConnectionSnapshot): GitPhase | null {
  if (snapshot.matches('exchanging')) return 'exchanging'
  if (snapshot.matches({ connected: 'renewing' })) return 'renewing'
  if (snapshot.matches({ pending: 'registering' })) return 'registering'
  if (snapshot.matches({ pending: 'installing' })) return 'installing'
  return snapshot.matches({ pending: 'authorizing' }) ? 'authorizing' : null
}

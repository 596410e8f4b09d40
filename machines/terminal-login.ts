// A login request of a terminal: pending until the administrator approves or denies it, or until it
// expires. It contains no secrets: only a hash of the terminal's secret. The token waits in memory, under
// this actor's id.
import { assign, type SnapshotFrom, setup } from 'xstate'
import { type SlotInput, type SlotOutput, slot } from './slot.ts'

export const version = 2

/** In version 1 every approved token had all rights. */
export function migrate(snapshot: unknown, _from: number): unknown {
  const old = snapshot as { context: object }
  const grant: TokenGrant = { role: 'admin', services: null, expiresInDays: null }
  return { ...old, context: { ...old.context, grant } }
}

export const cleanups = ['revokeToken'] as const

export const discarded = { status: 'expired' } as const

export interface TerminalLoginInput {
  id: string
  /** The run of the daemon that the request belongs to. It expires with the next run. */
  bootId: string
  /** Shown by the terminal and by the page, for comparison. */
  code: string
  name: string
  secretHash: string
  address: string
  at: string
  expiresAt: string
}

export interface TokenGrant {
  role: 'read' | 'deploy' | 'admin'
  /** Ids of services; null for all services. */
  services: string[] | null
  /** Null for a token that does not expire. */
  expiresInDays: number | null
}

interface Context extends TerminalLoginInput {
  /** Null until the request is approved. */
  grant: TokenGrant | null
}

export type TerminalLoginEvent =
  | { type: 'approve'; at: string; by: string; grant: TokenGrant }
  | { type: 'deny'; at: string; by: string }
  /** The terminal gets its token. */
  | { type: 'collect'; at: string; by: string }
  /** The terminal receives the denial. */
  | { type: 'tell'; at: string; by: string }

interface ExpiryInput extends SlotInput {
  bootId: string
  expiresAt: string
}

const login = setup({
  types: {} as { context: Context; input: TerminalLoginInput; events: TerminalLoginEvent },
  actors: {
    awaitExpiry: slot<ExpiryInput, SlotOutput>(),
    issueToken: slot<SlotInput & { name: string; grant: TokenGrant }, SlotOutput>(),
    revokeToken: slot<SlotInput, SlotOutput>(),
  },
  actions: {
    recordGrant: assign((_, grant: TokenGrant) => ({ grant })),
  },
})

const expiryOf = ({ context: { id, bootId, expiresAt } }: { context: Context }) => ({
  id,
  bootId,
  expiresAt,
})

export const machine = login.createMachine({
  id: 'terminal-login',
  description: 'A login request of a terminal. It lasts at most ten minutes.',
  context: ({ input }) => ({ ...input, grant: null }),
  initial: 'pending',
  states: {
    pending: {
      description: 'Waits for the administrator, who approves or denies it.',
      invoke: { id: 'awaitExpiry', src: 'awaitExpiry', input: expiryOf, onDone: 'expired' },
      on: {
        approve: {
          target: 'approved',
          actions: { type: 'recordGrant', params: ({ event }) => event.grant },
        },
        deny: 'denied',
      },
    },
    approved: {
      description: 'Approved: the terminal gets a token.',
      initial: 'issuing',
      states: {
        issuing: {
          description: 'Creates the token.',
          invoke: {
            id: 'issueToken',
            src: 'issueToken',
            input: ({ context: { id, name, grant } }) => ({ id, name, grant: grant! }),
            onDone: 'waiting',
          },
        },
        waiting: {
          description: 'Waits until the terminal collects its token.',
          invoke: { id: 'awaitExpiry', src: 'awaitExpiry', input: expiryOf, onDone: '#revoking' },
          on: { collect: '#collected' },
        },
      },
    },
    denied: {
      description: 'Denied. Waits until the terminal asks for the result.',
      invoke: { id: 'awaitExpiry', src: 'awaitExpiry', input: expiryOf, onDone: 'expired' },
      on: { tell: 'told' },
    },
    revoking: {
      description: 'The terminal did not collect its token: revokes it.',
      id: 'revoking',
      invoke: {
        id: 'revokeToken',
        src: 'revokeToken',
        input: ({ context: { id } }) => ({ id }),
        onDone: 'expired',
      },
    },
    collected: { description: 'The terminal has its token.', id: 'collected', type: 'final' },
    told: { description: 'The terminal has shown the denial.', type: 'final' },
    expired: { description: 'Ended without a login.', type: 'final' },
  },
})

export type TerminalLoginSnapshot = SnapshotFrom<typeof machine>

export function toRecord(snapshot: TerminalLoginSnapshot) {
  const { id, bootId, code, name, secretHash, address, at, expiresAt } = snapshot.context
  return {
    id,
    status: statusOf(snapshot),
    code,
    name,
    created_at: at,
    expires_at: expiresAt,
    boot_id: bootId,
    secret_hash: secretHash,
    address,
    is_collectable: snapshot.matches({ approved: 'waiting' }),
  }
}

export type TerminalLoginRecord = ReturnType<typeof toRecord>

function statusOf(snapshot: TerminalLoginSnapshot) {
  if (snapshot.matches('pending')) return 'pending'
  if (snapshot.matches('approved')) return 'approved'
  if (snapshot.matches('denied')) return 'denied'
  if (snapshot.matches('collected')) return 'collected'
  return snapshot.matches('told') ? 'told' : 'expired'
}

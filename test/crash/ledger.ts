// What was acknowledged to users, and every violation found. Only acknowledged requests are promises.
import type { Body } from '../support/daemon/api.ts'

/** An acknowledged POST. Repeated with its key, it must return the object with the same id. */
export interface Order {
  path: string
  key: string
  body: unknown
  id: string
  idIn(body: Body): string | undefined
  /** Whether its object was deleted, so that a repetition may find nothing. */
  isGone(): boolean
}

export interface Violation {
  rule: string
  text: string
  evidence: string[]
}

export function createLedger() {
  const violations: Violation[] = []
  const orders: Order[] = []
  return {
    orders,
    figures: { acknowledged: 0, refused: 0, retried: 0, duplicates: 0, reconnects: 0 },
    violations,
    addViolation(rule: string, text: string, evidence: string[] = []): void {
      violations.push({ rule, text, evidence })
    },
  }
}

export type Ledger = ReturnType<typeof createLedger>

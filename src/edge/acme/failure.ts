// Failures of a CA.
import { Failure } from '../../errors.ts'

export type AcmeCode = 'acme_unreachable' | 'acme_rate_limited' | 'acme_rejected' | 'acme_challenge_failed'

export interface AcmeDetails {
  hint?: string
  /** RFC 3339: the earliest time for another request. */
  retryAt?: string | null
  /** Such as `rejectedIdentifier`, without the common prefix. */
  problem?: string | null
}

export class AcmeFailure extends Failure {
  readonly retryAt: string | null
  readonly problem: string | null

  constructor(code: AcmeCode, message: string, { hint, retryAt = null, problem = null }: AcmeDetails = {}) {
    super(code, message, hint)
    this.name = 'AcmeFailure'
    this.retryAt = retryAt
    this.problem = problem
  }
}

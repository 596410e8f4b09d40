// Why an actor failed, as stored in its context. Programs use the code; the message is for people.
import { toErrorCode } from './error-codes.ts'
import type { ProblemDetails, SlotFailure } from './slot.ts'

export interface Problem {
  code: string
  message: string
  /** Missing in snapshots older than the field. */
  details?: ProblemDetails
}

export function problemOf({ code, message, details }: SlotFailure): Problem {
  return { code, message, ...(details && { details }) }
}

export function problemFields(problem: Problem | null) {
  return {
    error: problem?.message ?? null,
    error_code: problem && toErrorCode(problem.code),
    error_details: problem?.details ?? null,
  }
}

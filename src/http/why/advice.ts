// Advice for failures by error code. The error message has the cause; the advice has the next step.
import type { ErrorCode } from '../../../machines/error-codes.ts'

export interface Advice {
  /** One sentence that contains the commands. */
  hint: string
  commands: string[]
}

/** `hint` must contain the commands. */
export function advise(hint: string, ...commands: string[]): Advice {
  return { hint, commands }
}

export function adviseSequence(first: string, second: string): Advice {
  return advise(`${first}, then: ${second}`, first, second)
}

/** The error fields of a record. Records of older versions have no code. */
export interface FailedRecord {
  error_code?: string | null | undefined
  error_details?: Readonly<Record<string, string | number>> | null | undefined
}

/** A detail as text, or the fallback if an older version did not store it. */
export function detailOf({ error_details: details }: FailedRecord, name: string, fallback: string): string {
  return String(details?.[name] ?? fallback)
}

export function failureOf(
  { error, error_code, error_details }: FailedRecord & { error: string | null },
  advice: Advice | null,
) {
  return {
    error,
    error_code: (error_code ?? null) as ErrorCode | null,
    error_details: error_details ?? null,
    ...(advice && { hint: advice.hint }),
  }
}

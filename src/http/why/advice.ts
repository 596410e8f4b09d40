// What to do about a failure, by its error code. The message of the error contains what happened and why.
import type { ErrorCode } from '../../../machines/error-codes.ts'

export interface Advice {
  /** One sentence, with the commands in it. */
  hint: string
  commands: string[]
}

/** The commands are in the hint as well. */
export function advise(hint: string, ...commands: string[]): Advice {
  return { hint, commands }
}

/** Two commands, one after the other. */
export function adviseSequence(first: string, second: string): Advice {
  return advise(`${first}, then: ${second}`, first, second)
}

/** What a program knows of a failure. Records of older versions lack the code. */
export interface FailedRecord {
  error_code?: string | null | undefined
  error_details?: Readonly<Record<string, string | number>> | null | undefined
}

/** One detail as text, or the fallback where an older version did not keep it. */
export function detailOf({ error_details: details }: FailedRecord, name: string, fallback: string): string {
  return String(details?.[name] ?? fallback)
}

/** The fields of a record that show its failure. */
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

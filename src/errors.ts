// Failures for users. `code` is stable; `message` is one line and never contains a secret.

/** A failure with a stable code. The HTTP layer maps the code to a status. */
export class Failure extends Error {
  override name = 'Failure'
  /** Additional facts for programs, besides the code. */
  facts: FailureFacts | undefined

  constructor(
    readonly code: string,
    message: string,
    readonly hint?: string,
    readonly details?: FailureDetail[],
  ) {
    super(message)
  }

  with(facts: FailureFacts): this {
    this.facts = facts
    return this
  }
}

/** The provider refused an authorization that is made now. The API answers 400, for a stored one 409. */
export class RejectedNow extends Failure {
  readonly status = 400

  constructor(message: string, hint?: string) {
    super('git_authorization_rejected', message, hint)
  }
}

/** For example `{ port: 3000 }`. */
export type FailureFacts = Readonly<Record<string, string | number>>

export class RetryLater extends Failure {
  constructor(
    code: string,
    message: string,
    readonly retryAfterSeconds: number,
    hint?: string,
  ) {
    super(code, message, hint)
  }
}

/** One invalid field, or one referrer of something that is in use. */
export interface FailureDetail {
  path: string
  code: string
  message: string
}

export function conflict(message: string, hint?: string): Failure {
  return new Failure('conflict', message, hint)
}

export function notFound(message: string, hint?: string): Failure {
  return new Failure('not_found', message, hint)
}

export function invalidRequest(message: string, hint?: string): Failure {
  return new Failure('invalid_request', message, hint)
}

/** `invalid_request` for one field of a request. */
export function invalidField(path: string, message: string, hint?: string, code = 'invalid'): Failure {
  return new Failure('invalid_request', `${path}: ${message}`, hint, [{ path, code, message }])
}

/** The code of any thrown value; `internal_error` for unexpected errors. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return 'internal_error'
}

/** The message of any thrown value, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

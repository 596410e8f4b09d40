// How a command can fail. Any other thrown error is a bug of the command line, and reported as one.

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unreachable: 5,
  interrupted: 130,
} as const

export interface FailureOptions {
  /** 1 by default. */
  exitCode?: number
  /** The next step. */
  hint?: string | undefined
  requestId?: string | undefined
  code?: string | undefined
  retryAfterSeconds?: number | undefined
}

export class CliFailure extends Error {
  readonly exitCode: number
  readonly hint: string | undefined
  readonly requestId: string | undefined
  readonly code: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, options: FailureOptions = {}) {
    super(message)
    this.name = 'CliFailure'
    this.exitCode = options.exitCode ?? exitCodes.failed
    this.hint = options.hint
    this.requestId = options.requestId
    this.code = options.code
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

export function usageFailure(message: string, hint?: string): CliFailure {
  return new CliFailure(message, { exitCode: exitCodes.usage, hint })
}

/** The token's role does not include secret values. */
export function withoutSecrets(url: string, what: string): CliFailure {
  const hint = `use a token with the role admin: berth login ${url}`
  return new CliFailure(`this token may not read ${what}`, { exitCode: exitCodes.refused, hint })
}

/** For Ctrl-C and canceled prompts. Without arguments, nothing is printed. */
export function interruption(message = '', hint?: string): CliFailure {
  return new CliFailure(message, { exitCode: exitCodes.interrupted, hint })
}

/** Null if the server refuses or does not know the request, as for a limited token or an older server. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof CliFailure) return null
    throw error
  }
}

/** For work that continues on the server after the connection is lost: adds how to resume following it. */
export function withResumeHint(error: unknown, way: string): unknown {
  const finalExitCodes: number[] = [exitCodes.notFound, exitCodes.interrupted]
  if (!(error instanceof CliFailure) || finalExitCodes.includes(error.exitCode)) return error
  return new CliFailure(error.message, { ...error, hint: [error.hint, way].filter(Boolean).join('\n') })
}

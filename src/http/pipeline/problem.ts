// Problem responses (RFC 9457). An error without a code of problem-codes.ts is logged, without details.
import { STATUS_CODES } from 'node:http'
import { kindOf, problemCodes } from '../../api/parts/problem-codes.ts'
import { codeOf, Failure, type FailureDetail, messageOf, RejectedNow, RetryLater } from '../../errors.ts'

const storageErrorCodes: Record<string, string> = {
  commit_failed: 'insufficient_storage',
  ENOSPC: 'insufficient_storage',
  EDQUOT: 'insufficient_storage',
}

export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  code: string
  detail: string
  hint?: string
  request_id: string
  errors?: FailureDetail[]
}

interface ProblemResponse {
  body: Problem
  headers: [string, string][]
}

export function statusOf(code: string): number {
  return (kindOf(code) ?? problemCodes.internal_error).status
}

export function toProblem(error: unknown, requestId: string): ProblemResponse {
  const thrown = codeOf(error)
  const known = storageErrorCodes[thrown] ?? thrown
  const foreseen = kindOf(known)
  const code = foreseen ? known : 'internal_error'
  const kind = foreseen ?? kindOf('internal_error')!
  const status = error instanceof RejectedNow ? error.status : kind.status
  const body: Problem = {
    type: 'about:blank',
    title: STATUS_CODES[status]!,
    status,
    code,
    detail: detailOf(error, code, thrown),
    request_id: requestId,
  }
  if (error instanceof Failure && error.hint !== undefined && code !== 'internal_error')
    body.hint = error.hint
  if (error instanceof Failure && error.details !== undefined && code !== 'internal_error')
    body.errors = error.details
  const retryAfterSeconds = error instanceof RetryLater ? error.retryAfterSeconds : kind.retryAfterSeconds
  return { body, headers: headersOf(code, retryAfterSeconds) }
}

function detailOf(error: unknown, code: string, thrown: string): string {
  if (code === 'internal_error') return 'internal error; the server log has the details under this request_id'
  if (code !== thrown) return 'the server cannot write its data: the disk may be full'
  return messageOf(error)
}

function headersOf(code: string, retryAfterSeconds: number | undefined): [string, string][] {
  const headers: [string, string][] = []
  if (code === 'unauthorized') headers.push(['WWW-Authenticate', 'Bearer'])
  if (retryAfterSeconds !== undefined) headers.push(['Retry-After', String(retryAfterSeconds)])
  return headers
}

// Problem answers (RFC 9457), and every code the API can answer with, on one scroll (decisions "Errors").
// Mind: an error whose code is not in the table is ours: it is logged, and nothing of it is shown.
import { STATUS_CODES } from 'node:http'
import { codeOf, Failure, type FailureDetail, messageOf, TooSoon } from '../errors.ts'

interface Kind {
  status: number
  retryAfterSeconds?: number
}

const kinds: Record<string, Kind> = {
  invalid_request: { status: 400 },
  git_application_required: { status: 400 },
  unauthorized: { status: 401 },
  invalid_credentials: { status: 401 },
  invalid_setup_code: { status: 403 },
  session_required: { status: 403 },
  insufficient_role: { status: 403 },
  password_required: { status: 403 },
  cross_site_request: { status: 403 },
  invalid_secret: { status: 403 },
  not_found: { status: 404 },
  source_not_found: { status: 404 },
  method_not_allowed: { status: 405 },
  conflict: { status: 409 },
  name_taken: { status: 409 },
  in_use: { status: 409 },
  already_set_up: { status: 409 },
  not_cancelable: { status: 409 },
  build_failed: { status: 409 },
  git_authorization_rejected: { status: 409 },
  length_required: { status: 411 },
  payload_too_large: { status: 413 },
  unsupported_media_type: { status: 415 },
  too_many_attempts: { status: 429 },
  slow_down: { status: 429 },
  internal_error: { status: 500 },
  docker_error: { status: 502 },
  git_provider_unavailable: { status: 502 },
  git_remote_unreachable: { status: 502 },
  unavailable: { status: 503, retryAfterSeconds: 2 },
  docker_unavailable: { status: 503, retryAfterSeconds: 5 },
  insufficient_storage: { status: 507 },
}

/** Codes of the store and of the system that mean one of ours. */
const synonyms: Record<string, string> = {
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

export interface ProblemAnswer {
  body: Problem
  headers: [string, string][]
}

/** The status a code is answered with; 500 for one the table does not know. */
export function statusOf(code: string): number {
  return (kinds[code] ?? kinds.internal_error!).status
}

/** Turns whatever was thrown into the answer for it. */
export function toProblem(error: unknown, requestId: string): ProblemAnswer {
  const thrown = codeOf(error)
  const known = synonyms[thrown] ?? thrown
  const code = known in kinds ? known : 'internal_error'
  const kind = kinds[code]!
  const body: Problem = {
    type: 'about:blank',
    title: STATUS_CODES[kind.status]!,
    status: kind.status,
    code,
    detail: detailOf(error, code, thrown),
    request_id: requestId,
  }
  if (error instanceof Failure && error.hint !== undefined && code !== 'internal_error')
    body.hint = error.hint
  if (error instanceof Failure && error.details !== undefined && code !== 'internal_error')
    body.errors = error.details
  const retryAfterSeconds = error instanceof TooSoon ? error.retryAfterSeconds : kind.retryAfterSeconds
  return { body, headers: headersOf(code, retryAfterSeconds) }
}

function detailOf(error: unknown, code: string, thrown: string): string {
  if (code === 'internal_error')
    return 'something went wrong on our side; the log has it under this request_id'
  if (code !== thrown) return 'the server cannot write its data: the disk may be full'
  return messageOf(error)
}

function headersOf(code: string, retryAfterSeconds: number | undefined): [string, string][] {
  const headers: [string, string][] = []
  if (code === 'unauthorized') headers.push(['WWW-Authenticate', 'Bearer'])
  if (retryAfterSeconds !== undefined) headers.push(['Retry-After', String(retryAfterSeconds)])
  return headers
}

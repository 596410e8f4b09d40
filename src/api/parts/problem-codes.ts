// Every code a problem can have: its status, and what it means. The OpenAPI document says both.
// Programs decide by the code, so a code never changes what it means.

interface Kind {
  status: number
  meaning: string
  retryAfterSeconds?: number
}

export const problemCodes = {
  invalid_request: {
    status: 400,
    meaning:
      'The path, the query, a header or the body is not valid, or the `Host` is not one of this server.',
  },
  git_application_required: {
    status: 400,
    meaning: 'The Git provider needs an application, and none is configured.',
  },
  unauthorized: {
    status: 401,
    meaning: 'The credential is missing, wrong or no longer valid.',
  },
  invalid_credentials: {
    status: 401,
    meaning: 'The e-mail address or the password is wrong.',
  },
  invalid_setup_code: {
    status: 403,
    meaning: 'The setup code is wrong.',
  },
  session_required: {
    status: 403,
    meaning: 'The account is managed with the session of a browser, never with a token.',
  },
  insufficient_role: {
    status: 403,
    meaning: 'The role of the token is too low, or the token is limited to other services.',
  },
  password_required: {
    status: 403,
    meaning: 'The session is too old for this without the password of the account.',
  },
  cross_site_request: {
    status: 403,
    meaning: 'The request of a browser does not come from a page of this server.',
  },
  invalid_secret: {
    status: 403,
    meaning: 'The secret of the terminal login is wrong.',
  },
  not_found: {
    status: 404,
    meaning: 'The resource does not exist.',
  },
  source_not_found: {
    status: 404,
    meaning: 'The repository or the branch does not exist, or it is not visible.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not take this method; `Allow` lists the ones it takes.',
  },
  conflict: {
    status: 409,
    meaning:
      'The state of the resource does not allow it, or an `Idempotency-Key` was used for another request.',
  },
  name_taken: {
    status: 409,
    meaning: 'Another service or datastore has the name.',
  },
  in_use: {
    status: 409,
    meaning: 'Something else refers to the resource; `errors` lists the referrers.',
  },
  already_set_up: {
    status: 409,
    meaning: 'The server has its account already.',
  },
  not_cancelable: {
    status: 409,
    meaning: 'It has ended, or it is too late to cancel it.',
  },
  not_parked: {
    status: 409,
    meaning: 'The actor is not parked: there is nothing to retry or to discard.',
  },
  not_recoverable: {
    status: 409,
    meaning: 'What is stored of the parked actor is of no use: it can only be discarded.',
  },
  build_failed: {
    status: 409,
    meaning: 'The build failed.',
  },
  git_authorization_rejected: {
    status: 409,
    meaning: 'The Git provider rejected the authorization.',
  },
  length_required: {
    status: 411,
    meaning: 'Only an upload may be sent in chunks; everything else needs a Content-Length.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than this route takes.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body does not have the Content-Type that this route takes.',
  },
  too_many_attempts: {
    status: 429,
    meaning: 'Too many failed or open attempts; `Retry-After` says how long to wait.',
  },
  slow_down: {
    status: 429,
    meaning: 'Asked too often; `Retry-After` says how long to wait.',
  },
  internal_error: {
    status: 500,
    meaning: 'A fault of the server; its log has the details under the `request_id`.',
  },
  docker_error: {
    status: 502,
    meaning: 'Docker refused the request.',
  },
  git_provider_unavailable: {
    status: 502,
    meaning: 'The Git provider does not answer.',
  },
  git_remote_unreachable: {
    status: 502,
    meaning: 'The repository cannot be reached.',
  },
  unavailable: {
    status: 503,
    meaning: 'The server is stopping, or at a limit of its own; `Retry-After` says when to try again.',
    retryAfterSeconds: 2,
  },
  docker_unavailable: {
    status: 503,
    meaning: 'Docker does not answer; `Retry-After` says when to try again.',
    retryAfterSeconds: 5,
  },
  insufficient_storage: {
    status: 507,
    meaning: 'The disk is full, or less space is free than the server keeps.',
  },
} as const satisfies Record<string, Kind>

export type ProblemCode = keyof typeof problemCodes

export const knownCodes = Object.keys(problemCodes) as ProblemCode[]

/** null for a code that no answer has. */
export function kindOf(code: string): Kind | null {
  return Object.hasOwn(problemCodes, code) ? problemCodes[code as ProblemCode] : null
}

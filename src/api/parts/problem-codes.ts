// Every problem code with its status and its meaning; the OpenAPI document lists both. Programs branch on
// the code, so the meaning of a code never changes.
import { z } from 'zod'

interface Kind {
  status: number
  meaning: string
  /** A second status with the same meaning. */
  otherStatus?: number
  retryAfterSeconds?: number
}

export const problemCodes = {
  invalid_request: {
    status: 400,
    meaning: 'The path, the query, a header or the body is invalid, or the `Host` is not one of this server.',
  },
  git_application_required: {
    status: 400,
    meaning:
      'The Git provider needs an OAuth application for this server: send `client_id` and `client_secret`.',
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
  invalid_start_code: {
    status: 403,
    meaning: 'The start code of the account page is wrong, or was replaced.',
  },
  session_required: {
    status: 403,
    meaning: 'The account can be managed only with a browser session, not with a token.',
  },
  insufficient_role: {
    status: 403,
    meaning: 'The role of the token is too low, or the token is limited to other services.',
  },
  password_required: {
    status: 403,
    meaning: 'The session is too old for this request; the password of the account is required.',
  },
  cross_site_request: {
    status: 403,
    meaning: "The browser's request does not come from a page of this server.",
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
    meaning: 'The repository or the branch does not exist, or is not visible.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support this method; `Allow` lists the supported methods.',
  },
  conflict: {
    status: 409,
    meaning:
      'The state of the resource does not allow it, or the `Idempotency-Key` was used for another request.',
  },
  name_taken: {
    status: 409,
    meaning: 'The name is in use by another service or datastore.',
  },
  in_use: {
    status: 409,
    meaning: 'The resource is in use; `errors` lists what refers to it.',
  },
  already_set_up: {
    status: 409,
    meaning: 'The server already has an account.',
  },
  not_cancelable: {
    status: 409,
    meaning: 'It has ended, or it is too late to cancel it.',
  },
  not_parked: {
    status: 409,
    meaning: 'The actor is not parked, so there is nothing to retry or discard.',
  },
  not_recoverable: {
    status: 409,
    meaning: 'The stored state of the parked actor is unusable: it can only be discarded.',
  },
  build_failed: {
    status: 409,
    meaning: 'The build failed.',
  },
  git_authorization_rejected: {
    status: 409,
    otherStatus: 400,
    meaning:
      'The Git provider rejected an authorization. 400: the one that is made now. 409: the one that a ' +
      'connection has stored.',
  },
  length_required: {
    status: 411,
    meaning: 'Only uploads may be chunked; other requests need a Content-Length.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than this route allows.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body does not have the Content-Type that this route requires.',
  },
  too_many_attempts: {
    status: 429,
    meaning: 'Too many failed attempts or requested logins; `Retry-After` has the delay.',
  },
  slow_down: {
    status: 429,
    meaning: 'Too many requests; `Retry-After` has the delay.',
  },
  internal_error: {
    status: 500,
    meaning: 'Internal error; the log of the server has the details under the `request_id`.',
  },
  docker_error: {
    status: 502,
    meaning: 'Docker refused the request.',
  },
  git_provider_unavailable: {
    status: 502,
    meaning: 'The Git provider does not respond, or responds with an error.',
  },
  git_remote_unreachable: {
    status: 502,
    meaning: 'The repository could not be read: its remote refused, does not exist, or does not respond.',
  },
  unavailable: {
    status: 503,
    meaning: 'The server is stopping or has reached a limit; `Retry-After` has the delay.',
    retryAfterSeconds: 2,
  },
  docker_unavailable: {
    status: 503,
    meaning: 'Docker does not respond; `Retry-After` has the delay.',
    retryAfterSeconds: 5,
  },
  insufficient_storage: {
    status: 507,
    meaning: 'The disk is full, or less space is free than the server reserves.',
  },
} as const satisfies Record<string, Kind>

type ProblemCode = keyof typeof problemCodes

export const knownCodes = Object.keys(problemCodes) as ProblemCode[]

export function kindOf(code: string): Kind | null {
  return Object.hasOwn(problemCodes, code) ? problemCodes[code as ProblemCode] : null
}

export const ProblemDetails = z
  .object({
    type: z.literal('about:blank').describe('Always the same; `code` identifies the problem.'),
    title: z.string().describe('The reason phrase of the HTTP status.'),
    status: z.int().describe('The HTTP status.'),
    code: z
      .enum(knownCodes)
      .describe(
        'The code that programs branch on. Later versions may add codes; the meaning of a code ' +
          'never changes.',
      ),
    detail: z.string().describe('A sentence for people. Never contains a secret.'),
    hint: z.string().optional().describe('The next step, as a sentence or a command.'),
    request_id: z.string().describe('Id of the request in the log of the server.'),
    errors: z
      .array(
        z.object({
          path: z.string().describe('Location in the input, or the resource that refers to it.'),
          code: z.string().describe('The error, for programs.'),
          message: z.string().describe('The error, for people.'),
        }),
      )
      .optional()
      .describe('For invalid input, each error; for `in_use`, each resource that refers to it.'),
  })
  .meta({ id: 'Problem', description: 'Why a request failed (RFC 9457).' })

// Every problem code. Programs branch on the code, so its meaning never changes.
import { z } from 'zod'

interface Kind {
  status: number
  meaning: string
  /** A second status with the same meaning. */
  otherStatus?: number
  retryAfterSeconds?: number
}

function kind(status: number, meaning: string, more: Omit<Kind, 'status' | 'meaning'> = {}): Kind {
  return { status, meaning, ...more }
}

export const problemCodes = {
  invalid_request: kind(
    400,
    'The path, the query, a header or the body is invalid, or the `Host` is not one of this server.',
  ),
  git_application_required: kind(
    400,
    'The Git provider needs an OAuth application for this server: send `client_id` and `client_secret`.',
  ),
  unauthorized: kind(401, 'The credential is missing, wrong or no longer valid.'),
  invalid_credentials: kind(401, 'The e-mail address or the password is wrong.'),
  invalid_signature: kind(401, 'No connection has the secret with which the delivery is signed.'),
  invalid_setup_code: kind(403, 'The setup code is wrong.'),
  invalid_start_code: kind(403, 'The start code of the account page is wrong, or was replaced.'),
  session_required: kind(
    403,
    'The account, and backups of the whole server, need a browser session and not a token.',
  ),
  insufficient_role: kind(
    403,
    'The role of the token is too low, or the token is limited to other services.',
  ),
  password_required: kind(
    403,
    'The session is too old for this request; the password of the account is required.',
  ),
  cross_site_request: kind(403, "The browser's request does not come from a page of this server."),
  invalid_secret: kind(403, 'The secret of the terminal login is wrong.'),
  not_found: kind(404, 'The resource does not exist.'),
  path_not_found: kind(404, 'There is no such path in the instance or on the disk.'),
  source_not_found: kind(404, 'The repository or the branch does not exist, or is not visible.'),
  method_not_allowed: kind(
    405,
    'The path does not support this method; `Allow` lists the supported methods.',
  ),
  conflict: kind(
    409,
    'The state of the resource does not allow it, or the `Idempotency-Key` was used for another request.',
  ),
  name_taken: kind(409, 'The name is in use by another service or datastore.'),
  in_use: kind(409, 'The resource is in use; `errors` lists what refers to it.'),
  already_set_up: kind(409, 'The server already has an account.'),
  not_cancelable: kind(409, 'It has ended, or it is too late to cancel it.'),
  not_parked: kind(409, 'The actor is not parked, so there is nothing to retry or discard.'),
  not_recoverable: kind(409, 'The stored state of the parked actor is unusable: it can only be discarded.'),
  build_failed: kind(409, 'The build failed.'),
  git_authorization_rejected: kind(
    409,
    'The Git provider rejected an authorization. 400: the one that is made now. 409: the one that a ' +
      'connection has stored.',
    { otherStatus: 400 },
  ),
  length_required: kind(411, 'Only uploads may be chunked; other requests need a Content-Length.'),
  payload_too_large: kind(413, 'The body is larger than this route allows.'),
  unsupported_media_type: kind(415, 'The body does not have the Content-Type that this route requires.'),
  too_complex: kind(422, 'Reading the text takes more time or memory than the server gives it.'),
  too_many_attempts: kind(429, 'Too many failed attempts or requested logins; `Retry-After` has the delay.'),
  slow_down: kind(
    429,
    'Too many requests, or too much data in them, at a time; `Retry-After` has the delay.',
  ),
  internal_error: kind(500, 'Internal error; the log of the server has the details under the `request_id`.'),
  docker_error: kind(502, 'Docker refused the request.'),
  git_provider_unavailable: kind(502, 'The Git provider does not respond, or responds with an error.'),
  git_remote_unreachable: kind(
    502,
    'The repository could not be read: its remote refused, does not exist, or does not respond.',
  ),
  unavailable: kind(503, 'The server is stopping or has reached a limit; `Retry-After` has the delay.', {
    retryAfterSeconds: 2,
  }),
  docker_unavailable: kind(503, 'Docker does not respond; `Retry-After` has the delay.', {
    retryAfterSeconds: 5,
  }),
  insufficient_storage: kind(507, 'The disk is full, or less space is free than the server reserves.'),
}

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

// What a failed request to a bucket means, in plain words.
import { withoutControlSequences } from '../control-sequences.ts'
import { Failure, messageOf } from '../errors.ts'
import type { BucketOptions } from './bucket-options.ts'

const code = 'backup_place_failed'
const maxReasonLength = 200

interface SdkError {
  name?: string
  code?: string
  cause?: { code?: string }
  $metadata?: { httpStatusCode?: number }
  $response?: { statusCode?: number; headers?: Record<string, string> }
}

const keyHint = 'berth backup-places add, with the same name and a key of this bucket, replaces it'
const regionHint = 'check --region and --endpoint'
const unitHint = 'it may be busy: try again later'

type Sentence = (place: BucketOptions, what: string) => [message: string, hint?: string]

/** By the name of the error in the answer. */
const answers: Record<string, Sentence> = {
  InvalidAccessKeyId: () => ['the key id is not known there', keyHint],
  SignatureDoesNotMatch: () => ['the secret does not fit the key id', keyHint],
  AccessDenied: (_, what) => [
    `the key has no permission to ${what}`,
    'give the key that right at the provider',
  ],
  NoSuchBucket: ({ bucket }) => [`there is no bucket ${bucket}`, 'create it at the provider'],
  InvalidBucketName: ({ bucket }) => [`${bucket} is no name of a bucket`],
  PermanentRedirect: ({ region }) => [`the bucket is not in the region ${region}`, regionHint],
  AuthorizationHeaderMalformed: ({ region }) => [`the region ${region} is wrong`, regionHint],
  QuotaExceeded: () => ['the storage there is full'],
  SlowDown: () => ['it limits requests', unitHint],
  ServiceUnavailable: () => ['it is unavailable', unitHint],
  InternalError: () => ['it reports an error of its own', unitHint],
  TimeoutError: () => ['it does not answer', 'check --endpoint, and firewalls on the way'],
}
answers.InvalidSecurity = answers.InvalidAccessKeyId!
answers.AllAccessDisabled = answers.AccessDenied!
answers.Forbidden = answers.AccessDenied!

/** By the code of the error of the connection. */
const connections: Record<string, Sentence> = {
  ECONNREFUSED: () => ['nothing listens there', 'check --endpoint and its port'],
  ECONNRESET: () => ['it closed the connection', unitHint],
  EPIPE: () => ['it closed the connection', unitHint],
  ENOTFOUND: ({ pathStyle }) => [
    'its host name does not exist',
    pathStyle ? 'check --endpoint' : 'check --endpoint; many services of one host need --path-style',
  ],
  EAI_AGAIN: () => ['its host name cannot be resolved now'],
  EHOSTUNREACH: () => ['there is no route to it'],
  ENETUNREACH: () => ['there is no route to it'],
  ETIMEDOUT: () => ['it does not answer', 'check --endpoint, and firewalls on the way'],
  CERT_HAS_EXPIRED: () => ['TLS: its certificate has expired'],
  ERR_TLS_CERT_ALTNAME_INVALID: ({ pathStyle }) => [
    'TLS: its certificate is for another name',
    pathStyle ? 'check --endpoint' : 'try --path-style',
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: () => untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: () => untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => untrusted,
  EPROTO: () => ['TLS: it does not speak TLS on this port', 'http:// instead of https://?'],
}
const untrusted: ReturnType<Sentence> = [
  'TLS: its certificate is not from an authority that this host trusts',
  'start berthd with NODE_EXTRA_CA_CERTS=FILE that has the authority',
]

/** The content of an upload failed, not the bucket. */
export class ContentFailure extends Error {
  constructor(readonly reason: unknown) {
    super('the content failed')
  }
}

/** `what` completes "no permission to …". */
export function describeFailure(what: string, place: BucketOptions, error: unknown): unknown {
  if (error instanceof ContentFailure) return error.reason
  if (error instanceof Failure) return error
  const [message, hint] = sentenceFor(what, place, error as SdkError)
  return new Failure(code, `${new URL(place.endpoint).host}: ${message}`, hint)
}

function sentenceFor(what: string, place: BucketOptions, error: SdkError): [message: string, hint?: string] {
  const { name = '', $response } = error
  if (isSkewed(name)) return clockSentence($response?.headers?.date)
  const status = error.$metadata?.httpStatusCode ?? $response?.statusCode
  const sentence =
    answers[name] ??
    connections[error.code ?? error.cause?.code ?? ''] ??
    (status === 403 ? answers.AccessDenied : undefined)
  if (sentence) return sentence(place, what)
  if (status !== undefined && !/xml/.test($response?.headers?.['content-type'] ?? 'xml')) {
    const text = `it answers with status ${status} and a page instead of data of S3`
    return [text, 'check --endpoint: it must be the address of the S3 interface']
  }
  const said = withoutControlSequences(messageOf(error)).slice(0, maxReasonLength)
  return [`cannot ${what}: ${status === undefined ? '' : `status ${status}, `}${name} ${said}`.trim()]
}

function clockSentence(theirs: string | undefined): [message: string, hint: string] {
  const apart = theirs ? `, it is ${theirs} there and ${new Date().toUTCString()} here` : ''
  return [`the clocks differ too much${apart}`, 'set the clock of this host: timedatectl']
}

function isSkewed(name: string): boolean {
  return /^(RequestTimeTooSkewed|RequestExpired|RequestInTheFuture|ClockSkew)/.test(name)
}

export function isMissingObject(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes((error as SdkError).name ?? '')
}

export function isUnsupported(error: unknown): boolean {
  return ['NotImplemented', 'MethodNotAllowed'].includes((error as SdkError).name ?? '')
}

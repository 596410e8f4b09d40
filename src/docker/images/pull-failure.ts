// Explains a failed pull in one line. Pure. The engine returns status 500 for nearly every error, so only its
// text shows whether the registry is unreachable, refuses, or does not have the image.
import { Failure } from '../../errors.ts'
import { duration } from '../../quantities.ts'
import { serverAddressOf } from './registry-credentials.ts'

/** The request that failed. The message never contains the password, whatever the registry responds. */
export interface PulledImage {
  reference: string
  host: string
  credentials: { password: string } | null
}

const maxReasonLength = 300

// The first match counts. Addresses and names are removed before matching, because they may contain any word.
const kinds: [words: RegExp, toFailure: (asked: PulledImage, reason: string) => Failure][] = [
  [/no space left on device|disk quota exceeded/i, diskFull],
  [/connection refused|no route to host|network is unreachable/i, unreachable],
  [/no such host|server misbehaving|name resolution/i, unreachable],
  [/time-?out|timed out|deadline exceeded|connection reset|broken pipe|\bEOF\b/i, unreachable],
  [/(unexpected .*status|HTTP)\b.*\b5\d\d\b/i, unreachable],
  [/toomanyrequests|too many requests|\b429\b/i, rateLimited],
  [/unauthorized|(?<!permission )denied|forbidden|authorization failed/i, unauthorized],
  [/no basic auth|authentication required/i, unauthorized],
  [/incorrect username|\b40[13]\b/i, unauthorized],
  [/no matching manifest|does not match the specified platform/i, otherPlatform],
  [/not found|manifest unknown|name unknown|does not exist|\b404\b/i, notFound],
]

/** `pull_failed` with the engine's own message if no kind matches. */
export function describePullFailure(text: string, image: PulledImage): Failure {
  const reason = clean(text, image)
  const words = withoutNames(reason, image)
  const kind = kinds.find(([pattern]) => pattern.test(words))
  return kind
    ? kind[1](image, reason)
    : new Failure('pull_failed', `cannot pull ${image.reference}: ${reason}`)
}

export function silentRegistry(image: PulledImage, waitedMs: number): Failure {
  return unreachable(image, `nothing was received within ${duration(waitedMs)}`)
}

function unreachable({ reference, host }: PulledImage, reason: string): Failure {
  return new Failure('registry_unreachable', `cannot pull ${reference}: ${host} does not respond (${reason})`)
}

function notFound({ reference, host }: PulledImage): Failure {
  return new Failure('image_not_found', `cannot pull ${reference}: ${host} has no such image`)
}

function otherPlatform({ reference, host }: PulledImage, reason: string): Failure {
  const problem = `${host} has it, but not for this machine's architecture (${reason})`
  return new Failure('image_not_found', `cannot pull ${reference}: ${problem}`)
}

// Registries do not tell strangers what they have: a private image and a missing one look the same.
function unauthorized({ reference, host, credentials }: PulledImage): Failure {
  const advice = `berth registries add ${host}`
  const problem = credentials
    ? `${host} rejected the stored credentials, or has no such image; ${advice} replaces them`
    : `${host} has no such image, or requires credentials; ${advice} stores them`
  return new Failure('registry_unauthorized', `cannot pull ${reference}: ${problem}`)
}

function rateLimited({ reference, host, credentials }: PulledImage): Failure {
  const advice = credentials ? 'try again later' : `credentials may raise it: berth registries add ${host}`
  const problem = `${host} has a pull limit, which is reached; ${advice}`
  return new Failure('registry_rate_limited', `cannot pull ${reference}: ${problem}`)
}

function diskFull(): Failure {
  return new Failure('insufficient_storage', 'the disk is full: the image does not fit')
}

/** The second line of defence: the engine does not repeat credentials, and a registry should not. */
function clean(text: string, { credentials }: PulledImage): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const bare = credentials?.password ? line.replaceAll(credentials.password, '***') : line
  return bare.slice(0, maxReasonLength)
}

function withoutNames(reason: string, { reference, host }: PulledImage): string {
  const name = reference.replace(/@.*$/, '').replace(/:[^:/]*$/, '')
  const names = [reference, name, serverAddressOf(host), host]
  const bare = reason.replace(/"https?:\/\/[^"]*"|https?:\/\/\S+/g, '')
  return names.reduce((rest, one) => rest.replaceAll(one, ''), bare)
}

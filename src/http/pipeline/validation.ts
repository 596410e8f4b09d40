// Validates requests. Messages never contain values, because those may be secrets.
import { z } from 'zod'
import { fixed } from '../../api/parts/fields.ts'
import { messageFor } from '../../api/parts/messages.ts'
import { Failure, type FailureDetail, invalidRequest } from '../../errors.ts'
import { maxInlineBytes, readBody } from '../../readers/json.ts'
import type { Request } from '../server/messages.ts'
import type { Route } from './route.ts'

const defaultBodyLimitBytes = 1024 * 1024
/** What anyone may send costs little to read. */
const publicBodyLimitBytes = 16 * 1024
/** The variables of a service may total 512 KiB, and JSON escapes can multiply that. */
export const envBodyLimitBytes = 4 * 1024 * 1024

export function bodyLimitOf({ bodyLimitBytes, credential, upload }: Route): number {
  if (upload) return upload.limitBytes
  return bodyLimitBytes ?? (credential === 'public' ? publicBodyLimitBytes : defaultBodyLimitBytes)
}

const maxDetails = 100

/** Throws `invalid_request` with one entry of `errors` for each violation. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(withOneUnknownKey(schema, value), { error: messageFor })
  if (result.success) return result.data
  const details = result.error.issues.slice(0, maxDetails).map(toDetail)
  const [first] = details
  const others = result.error.issues.length - 1
  const more = others > 0 ? ` (and ${others} more)` : ''
  throw new Failure('invalid_request', `${formatDetail(first!)}${more}`, undefined, details)
}

/** Unknown keys are slow in zod, and one is enough to reject the body, so only the first is passed on. */
function withOneUnknownKey(schema: z.ZodType, value: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || !(schema.def.catchall instanceof z.ZodNever)) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const unknownKey = Object.keys(value).find((key) => !Object.hasOwn(schema.shape, key))
  if (unknownKey === undefined) return value
  const entries = [...Object.keys(schema.shape), unknownKey].filter((key) => Object.hasOwn(value, key))
  return Object.fromEntries(entries.map((key) => [key, value[key as keyof typeof value]]))
}

function formatDetail({ path, message }: FailureDetail): string {
  return path === '' ? message : `${path}: ${message}`
}

/** Reports only the first unknown key, because a body can have 100,000 of them. */
function toDetail(issue: z.core.$ZodIssue): FailureDetail {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const message = 'is not a known key'
    return { path: [...path, issue.keys[0]!].join('.'), code: 'unknown_key', message }
  }
  return { path: path.join('.'), code: codeFor(issue), message: issue.message }
}

function codeFor({ code, message }: z.core.$ZodIssue): string {
  if (message === 'is required') return 'required'
  if (message === fixed) return 'fixed'
  return code === 'custom' ? 'invalid' : code
}

const formType = 'application/x-www-form-urlencoded'

/** Parses a JSON body; an empty body counts as `{}`. Throws what `readBody` throws. */
export function parseBody(request: Request, bytes: Buffer, owner: string): unknown {
  if (bytes.length === 0) return {}
  assertJsonType(request)
  return isBlank(bytes) ? {} : readBody(bytes, { owner })
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length < maxInlineBytes && bytes.toString().trim() === ''
}

/** Parses the form of a page. Each field may be given once. */
export function parseForm(request: Request, bytes: Buffer): Record<string, string> {
  if (bytes.length === 0) return {}
  if (mediaTypeOf(request) !== formType || isEncoded(request)) {
    throw new Failure('unsupported_media_type', 'this page accepts only its own form')
  }
  const fields = [...new URLSearchParams(bytes.toString('utf8'))]
  const form = Object.fromEntries(fields)
  if (Object.keys(form).length < fields.length) throw invalidRequest('a field of the form is specified twice')
  return form
}

/** A body without a Content-Type is accepted as JSON. */
function assertJsonType(request: Request): void {
  const type = mediaTypeOf(request)
  if (type && type !== 'application/json' && !type.endsWith('+json')) {
    throw new Failure(
      'unsupported_media_type',
      'the body must be JSON',
      'send Content-Type: application/json',
    )
  }
  if (isEncoded(request)) throw new Failure('unsupported_media_type', 'the body must not be compressed')
}

/** Throws `unsupported_media_type` for an upload of another type. A missing type is accepted. */
export function assertUploadType(request: Request, accepted: readonly string[]): void {
  const type = mediaTypeOf(request)
  if (!isEncoded(request) && (!type || accepted.includes(type))) return
  throw new Failure(
    'unsupported_media_type',
    `the body must be ${accepted[0]}, without a Content-Encoding`,
    `send Content-Type: ${accepted[0]}`,
  )
}

function mediaTypeOf({ headers }: Request): string | undefined {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
}

function isEncoded({ headers }: Request): boolean {
  const encoding = headers.get('content-encoding')?.toLowerCase()
  return encoding !== undefined && encoding !== '' && encoding !== 'identity'
}

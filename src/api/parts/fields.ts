// Small schemas that others are composed of. In a request, null means not given, and an empty text clears.
import { z } from 'zod'

export const fixed = 'cannot be changed'

/** A key of the record that is set once: omitted, or null, which must not be stored in a row. */
export const unchangeable = z
  .null({ error: fixed })
  .optional()
  .transform(() => undefined)
  .describe('Cannot be changed.')

/** Undefined if omitted or null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** `fallback` if omitted or null. */
export function withDefault<Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) {
  return schema.nullish().transform((value) => value ?? fallback)
}

/** A text that is cleared by an empty one: undefined if omitted, null if cleared. */
export function clearable(schema: z.ZodString) {
  return schema.nullish().transform((value) => (value === '' ? null : (value ?? undefined)))
}

/** A number that is cleared by 0: undefined if omitted, null if cleared. */
export function clearableByZero(schema: z.ZodNumber) {
  return schema.nullish().transform((value) => (value === 0 ? null : (value ?? undefined)))
}

/** UTC, milliseconds, Z. */
export const timestamp = z.iso.datetime({ precision: 3 })

// Values of a record that can be null.
export const text = z.string().nullable()
export const whole = z.int().nullable()
export const time = timestamp.nullable()

// Fields of records.
export const id = z.string().describe('The id. Ids sort by creation time.')
export const name = z.string().describe('The name.')
export const serviceId = z.string().describe('The id of its service.')
export const createdAt = timestamp.describe('When it was created.')
export const updatedAt = timestamp.describe('When a setting was last changed.')
export const startedAt = time.describe('When it started; null until then.')
export const finishedAt = time.describe('When it ended, successfully or not; null until then.')
export const nextAttemptAt = time.describe('When the next attempt is due; null if none is.')

/** An id that Berth generated. `{id}` of a service also accepts its name. */
export const identifier = z.string().min(1).max(128)

const yes = ['', '1', 'true', 'yes', 'y', 'on']
const no = ['0', 'false', 'no', 'n', 'off']

/** A flag in a query: `absent` when absent, and true for the bare key. */
export function flag(description: string, absent = false) {
  return z
    .string()
    .refine((text) => [...yes, ...no].includes(text.toLowerCase()), { error: 'must be true or false' })
    .optional()
    .transform((text) => (text === undefined ? absent : yes.includes(text.toLowerCase())))
    .meta({ description, type: 'boolean' })
}

/** An integer in a query, rejected outside of its bounds. */
export function bounded(fallback: number, minimum: number, maximum: number, description: string) {
  const fits = (text: string) => /^\d{1,15}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
  return z
    .string()
    .refine(fits, { error: `must be a whole number from ${minimum} to ${maximum}` })
    .optional()
    .transform((text) => (text === undefined ? fallback : Number(text)))
    .meta({ description: `${description} Default ${fallback}.`, type: 'integer', minimum, maximum })
}

/** An integer in a query that may be omitted. */
function count(minimum: number, description: string) {
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= minimum, {
      error: `must be a whole number from ${minimum}`,
    })
    .optional()
    .transform((text) => (text === undefined ? undefined : Number(text)))
    .meta({ description, type: 'integer', minimum })
}

/** The part of a log to return. */
export const logWindow = {
  from: count(1, 'Number of the line to start with, from 1; Last-Event-ID takes precedence.'),
  limit: count(1, 'Ends after so many lines, without `end` if there are more.'),
  tail: count(0, 'Number of last lines to start with; Last-Event-ID takes precedence.'),
}

/** An integer in a query, clamped to its bounds. */
export function clamped(fallback: number, minimum: number, maximum: number, description: string) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, { error: 'must be a whole number' })
    .optional()
    .transform((text) => Math.min(maximum, Math.max(minimum, text === undefined ? fallback : Number(text))))
    .meta({ description: `${description} Default ${fallback}.`, type: 'integer', pattern: undefined })
}

/** The start of a page of a list. The record may be deleted, because ids sort by creation time. */
export function cursor(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}-[0-9a-z]{26}$`), { error: `must be an id such as ${prefix}-…` })
    .optional()
    .describe('Only entries that are older than this id. The `Link` header has the next page.')
}

/** The start of a page of a list whose entries have numbers. */
export function numberBefore(description: string) {
  return z
    .string()
    .regex(/^\d{1,15}$/, { error: 'must be a whole number' })
    .optional()
    .transform((text) => (text === undefined ? undefined : Number(text)))
    .meta({
      description: `${description} The \`Link\` header has the next page.`,
      type: 'integer',
      pattern: undefined,
    })
}

export function pageLimit(fallback: number) {
  const meaning = 'Maximum number of entries. Values below 1 count as 1, values above 500 as 500.'
  return clamped(fallback, 1, 500, meaning)
}

export function pageFields(prefix: string) {
  return {
    limit: pageLimit(20),
    before: cursor(prefix),
  }
}

export const purge = flag('Deletes it and its data immediately. Nothing is moved to the trash.')

const mebibytes = z
  .int()
  .min(0)
  .max(1_048_576)
  .refine((mib) => mib === 0 || mib >= 16, { error: 'must be 0 for the default, or at least 16' })
const cpus = z
  .number()
  .min(0)
  .max(512)
  .refine((cpus) => cpus === 0 || cpus >= 0.01, { error: 'must be 0 for the default, or at least 0.01' })

/** MiB; 0 restores the default of the server. */
export const memoryLimit = clearableByZero(mebibytes)
/** CPUs, rounded to hundredths; 0 restores the default of the server. */
export const cpuLimit = clearableByZero(cpus).transform((cpus) =>
  cpus ? Math.round(cpus * 100) / 100 : cpus,
)

/** Names in /etc/hosts of a container, or names that Berth itself uses. */
const ip6Names = ['allnodes', 'allrouters', 'localhost', 'localnet', 'loopback', 'mcastprefix']
const reservedNames = new Set(['berth', 'localhost', 'new', ...ip6Names.map((name) => `ip6-${name}`)])
const looksLikeId = /^(usr|ses|tok|cli|crt|git|svc|dep|job|dst)-[0-9a-z]{26}$/

/** The name of a service or a datastore. Both share one namespace. */
export const Name = z
  .string()
  .regex(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/, {
    error:
      'must be 1 to 40 lower-case letters, digits and dashes, start with a letter and not end with a dash',
  })
  .refine((text) => !reservedNames.has(text), { error: 'is a reserved word' })
  .refine((text) => !looksLikeId.test(text), { error: 'must not look like an id' })

export const By = z
  .object({
    kind: z
      .enum(['session', 'token', 'terminal', 'schedule', 'push', 'server'])
      .describe(
        'session: a user in a browser. token: an API token. terminal: a token of `berth login`. ' +
          'schedule: a schedule. push: a push to a repository. server: the server itself.',
      ),
    id: text.describe('Id of the user or of the token.'),
    name: text.describe(
      'Name of the token at that time; for actions of the server, the reason. ' +
        'Tokens that are limited to services see only their own id and name.',
    ),
  })
  .meta({ id: 'By', description: 'Who caused it.' })
export type By = z.output<typeof By>

export const by = By.nullable().describe('Who requested it; null in records of older servers.')

/** Fields of every actor's record: its revision, and who requested it. */
export const recorded = {
  revision: z
    .int()
    .describe('Increases with each change of the record. A change in the feed has the same number.'),
  by,
}

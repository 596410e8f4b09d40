// The messages of a shell over its WebSocket: text messages are these, binary ones are bytes.
// The arguments go in the first message and not in the address, which proxies log.
import { z } from 'zod'

const side = z.int().min(1).max(10_000)

/** Below the kernel's limit for one argument. */
const longestWord = 100_000

const ShellStart = z.strictObject({
  type: z.literal('start'),
  /** Arguments of the datastore's client, or the command of a container; none for its shell. */
  words: z
    .array(
      z
        .string()
        .max(longestWord)
        .refine((word) => !word.includes('\0'), { error: 'must not contain a NUL' }),
    )
    .max(1000),
  /** null for pipes: stdout and stderr are separate, and the input can end. */
  terminal: z.strictObject({ name: z.string().regex(/^[\w.+-]{1,64}$/), cols: side, rows: side }).nullable(),
})

/** `start` comes first and only once. */
export const ShellMessage = z.discriminatedUnion('type', [
  ShellStart,
  z.strictObject({ type: z.literal('resize'), cols: side, rows: side }),
  z.strictObject({ type: z.literal('eof') }),
])
export type ShellMessage = z.output<typeof ShellMessage>

/** `taken` acknowledges that many bytes of input; `exit` and `error` are final. */
export type ShellAnswer =
  | { type: 'taken'; bytes: number }
  | { type: 'exit'; code: number }
  | { type: 'error'; code: string; detail: string; hint?: string }

export const instanceIndex = z
  .string()
  .regex(/^\d{1,3}$/, { error: 'must be the number of an instance' })
  .optional()
  .transform((text) => (text === undefined ? undefined : Number(text)))
  .meta({
    description: 'The number of the instance, from 0; by default the first that runs.',
    type: 'integer',
    pattern: undefined,
  })

export const ShellQuery = z.strictObject({ instance: instanceIndex })
export type ShellQuery = z.output<typeof ShellQuery>

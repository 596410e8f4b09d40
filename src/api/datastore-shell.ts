// The messages of a datastore's shell over its WebSocket: text messages are these, binary ones are bytes.
// The client's arguments go in the first message and not in the address, which proxies log.
import { z } from 'zod'

const side = z.int().min(1).max(10_000)

/** Below the kernel's limit for one argument. */
const longestWord = 100_000

const ClientStart = z.strictObject({
  type: z.literal('start'),
  /** Arguments of the client: `-c`, `select 1`. */
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
export const ClientMessage = z.discriminatedUnion('type', [
  ClientStart,
  z.strictObject({ type: z.literal('resize'), cols: side, rows: side }),
  z.strictObject({ type: z.literal('eof') }),
])
export type ClientMessage = z.output<typeof ClientMessage>

/** `taken` acknowledges that many bytes of input; `exit` and `error` are final. */
export type ServerMessage =
  | { type: 'taken'; bytes: number }
  | { type: 'exit'; code: number }
  | { type: 'error'; code: string; detail: string; hint?: string }

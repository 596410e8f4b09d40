// What is said over the WebSocket of a datastore's client: text messages are these, binary ones are bytes.
// Mind: words of a person go in the first message, not in the address, which ends up in the logs of proxies.
import { z } from 'zod'

const side = z.int().min(1).max(10_000)

/** The kernel takes no longer argument. */
const longestWord = 100_000

const ClientStart = z.strictObject({
  type: z.literal('start'),
  /** For the client itself: `-c`, `select 1`. */
  words: z
    .array(
      z
        .string()
        .max(longestWord)
        .refine((word) => !word.includes('\0'), { error: 'holds a NUL' }),
    )
    .max(1000),
  /** null for pipes: then its two outputs are told apart, and its input has an end. */
  terminal: z.strictObject({ name: z.string().regex(/^[\w.+-]{1,64}$/), cols: side, rows: side }).nullable(),
})

/** `start` comes first, and once. */
export const ClientMessage = z.discriminatedUnion('type', [
  ClientStart,
  z.strictObject({ type: z.literal('resize'), cols: side, rows: side }),
  z.strictObject({ type: z.literal('eof') }),
])
export type ClientMessage = z.output<typeof ClientMessage>

/** `taken` allows as many bytes more; `exit` and `error` are the last ones. */
export type ServerMessage =
  | { type: 'taken'; bytes: number }
  | { type: 'exit'; code: number }
  | { type: 'error'; code: string; detail: string; hint?: string }

// Times of the attempts to guess a secret, per target. They are stored, so a restart does not reset a limit.
import { randomBytes } from 'node:crypto'
import type { Store } from '../store/store.ts'

/** The target of a guess. Each target has its own limit, and so does each known device that signs in. */
export type GuessTarget = 'sign_in' | `sign_in/${string}` | 'current_password'

export interface AttemptRow {
  guessed: GuessTarget
  /** In ms since 1970. */
  atMs: number
  /** Distinguishes attempts made in the same millisecond. */
  mark: string
}

export function openAttempts(store: Store) {
  const rows = store.table<1>('attempts')

  const list = (guessed: GuessTarget): AttemptRow[] =>
    [...rows.keys({ start: [guessed, 0], end: [guessed, Number.MAX_SAFE_INTEGER] })].map(toRow)

  return {
    list,
    create: (guessed: GuessTarget, atMs: number): AttemptRow => ({
      guessed,
      atMs,
      mark: randomBytes(6).toString('hex'),
    }),
    record: (attempt: AttemptRow, isExpired: (attempt: AttemptRow) => boolean): Promise<void> =>
      store.commit(() => {
        for (const old of [...rows.keys()].map(toRow).filter(isExpired)) rows.remove(toKey(old))
        rows.put(toKey(attempt), 1)
      }),
    withdraw: (attempt: AttemptRow): Promise<void> => store.commit(() => rows.remove(toKey(attempt))),
    /** Only inside a commit. */
    clear(): void {
      for (const key of [...rows.keys()]) rows.remove(key)
    },
  }
}

function toKey({ guessed, atMs, mark }: AttemptRow): [string, number, string] {
  return [guessed, atMs, mark]
}

function toRow(key: unknown): AttemptRow {
  const [guessed, atMs, mark] = key as [GuessTarget, number, string]
  return { guessed, atMs, mark }
}

export type StoredAttempts = ReturnType<typeof openAttempts>

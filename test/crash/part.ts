// A part of the drill: what users do with one kind of actor, and what must be true of it at the end.
import type { Storage } from '../../storage/index.ts'
import type { Api } from '../support/daemon/api.ts'
import type { Drill } from './drill.ts'
import type { KillPlan } from './kills.ts'
import type { Chance } from './random.ts'
import type { StoreView } from './stored.ts'

export interface PartKind {
  /** Further options of the daemon; `prepared` is what `prepare` returned. */
  daemonArgs(prepared: Prepared): string[]
  /**
   * Prepares files outside of the namespace, which has no network access. For a private engine it saves the
   * images there as `*.tar`.
   */
  prepare(directory: string, isEnginePrivate: boolean): Promise<Prepared>
  /** Creates what must exist before the first kill. */
  open(drill: Drill): Promise<Part>
}

export type Prepared = Record<string, string>

/** Finds these words in a text, also between dashes and slashes, but not inside of other words. */
export function hasWord(text: string, words: readonly string[]): boolean {
  const between = (index: number) => index < 0 || index >= text.length || !/[a-z0-9]/.test(text[index]!)
  return words.some((word) => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
      if (between(at - 1) && between(at + word.length)) return true
    return false
  })
}

export interface Part {
  kills: KillPlan
  /** Starts the users; each acts until the drill is over. */
  use(): Promise<unknown>[]
  /**
   * Called while Docker is away. What it returns is called when Docker is back: it waits until all is well,
   * and calls `end` when Docker explains no further error.
   */
  outage?(chance: Chance): Promise<(end: () => void) => Promise<void>>
  /** Called when the users have stopped and the daemon is healthy. */
  rest?(): Promise<void>
  /** Messages of errors that the daemon logs because of what is done to it. */
  expectedErrors?: string[]
  /** Waits until all work has ended, and checks it through the API and in Docker. */
  check(api: Api): Promise<void>
  /** Checks what needs no daemon, after it has stopped. */
  checkWithoutDaemon?(): Promise<void>
  /** These check the files of the stopped daemon; `isEmpty` after everything was deleted. */
  checkFiles?(storage: Storage, isEmpty: boolean): unknown
  checkRows(view: StoreView, isEmpty: boolean): void
  /** The ids whose logs must be on disk, whole and as their followers saw them. */
  loggedIds?(): string[]
  /** Whether an id or the name of an object in Docker is of this part. Asked where parts share a daemon. */
  owns(text: string): boolean
  /** Deletes everything through the API. */
  removeAll(): Promise<void>
  /** For the report. */
  figures(): [name: string, value: string | number][]
  /** Each must be positive, else the run proves nothing. */
  proofs(): Record<string, number>
}

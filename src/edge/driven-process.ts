// One running HAProxy under the driver: its sockets and its known state.
import { codeOf, Failure, messageOf } from '../errors.ts'
import { type Command, certificateChanges, diff, expectedState } from './diff.ts'
import { type EdgeFiles, fileNameOf } from './files.ts'
import type { Routes } from './routes.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { fingerprintOfPem, type RuntimeState, readRuntimeState } from './runtime-state.ts'
import { countOpen, readWorkers } from './workers.ts'

type Knowledge =
  /** The state of HAProxy is unknown. The next change reads all of it first. */
  | { mode: 'unknown' }
  /** Commands are being sent. A failure, or an invalidation during this time, leads to `unknown`. */
  | { mode: 'changing' }
  | { mode: 'known'; state: RuntimeState }

const unknown: Knowledge = { mode: 'unknown' }

export class DrivenProcess {
  readonly files: EdgeFiles
  readonly admin: Runtime
  readonly master: Runtime
  #knowledge: Knowledge = unknown

  constructor(files: EdgeFiles) {
    this.files = files
    this.admin = openRuntime(files.adminSocket)
    this.master = openRuntime(files.masterSocket)
  }

  get isKnown(): boolean {
    return this.#knowledge.mode === 'known'
  }

  /** The next change reads everything first. */
  invalidate(): void {
    this.#knowledge = unknown
  }

  /** The serving process. Throws `edge_unavailable` without one. */
  async identify(): Promise<number> {
    const { current } = await readWorkers(this.master)
    if (current === null) throw new Failure('edge_unavailable', 'HAProxy has no worker')
    return current
  }

  /** Open requests at each slot of a pool (`s1`), including workers from before a reload. */
  countOpen(pool: string): Promise<Map<string, number>> {
    return countOpen(this.admin, this.master, pool)
  }

  /** Applies these routes to its servers and maps. */
  change(routes: Routes): Promise<void> {
    return this.#whileChanging(async (state) => {
      for (const { text, expected } of diff(state, routes, this.files)) {
        await this.admin.change(text, expected)
      }
      return expectedState(routes, state)
    })
  }

  /** Returns the reasons for rejected certificates. */
  async changeCertificates({ certificates }: Routes): Promise<string[]> {
    const pems = new Map(certificates.map(({ host, pem }) => [host, pem]))
    const refusals: string[] = []
    await this.#whileChanging(async (state) => {
      const known = new Map(state.certificates)
      for (const [host, commands] of certificateChanges(state, certificates, this.files)) {
        try {
          await this.#transact(commands)
          const pem = pems.get(host)
          if (pem) known.set(fileNameOf(host), fingerprintOfPem(pem))
          else known.delete(host)
        } catch (error) {
          if (codeOf(error) !== 'edge_refused') throw error
          refusals.push(messageOf(error))
        }
      }
      return { ...state, certificates: known }
    })
    return refusals
  }

  /** `change` sends commands and returns the state after them. */
  async #whileChanging(change: (state: RuntimeState) => Promise<RuntimeState>): Promise<void> {
    const before = this.#knowledge
    const changing: Knowledge = { mode: 'changing' }
    this.#knowledge = changing
    let after: Knowledge = unknown
    try {
      const state = before.mode === 'known' ? before.state : await readRuntimeState(this.admin, this.files)
      after = { mode: 'known', state: await change(state) }
    } finally {
      if (this.#knowledge === changing) this.#knowledge = after
    }
  }

  /** Retries once after aborting a transaction that a crash left open. */
  async #transact(commands: Command[]): Promise<void> {
    try {
      for (const { text, expected } of commands) await this.admin.change(text, expected)
    } catch (error) {
      if (codeOf(error) !== 'edge_refused') throw error
      const listed = await this.admin.ask('show ssl cert')
      for (const [, file] of listed.matchAll(/^\*(\S+)/gm)) await this.admin.ask(`abort ssl cert ${file}`)
      for (const { text, expected } of commands) await this.admin.change(text, expected)
    }
  }
}

// One running HAProxy under the driver: its sockets and its known state.
import { codeOf, Failure, messageOf } from '../errors.ts'
import { afterwards, type Command, certificateChanges, differences } from './diff.ts'
import { fileNameOf, type Place } from './files.ts'
import type { Routes } from './routes.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { type Found, fingerprintOfPem, readFound } from './runtime-state.ts'
import { countOpen, readWorkers } from './workers.ts'

export class DrivenProcess {
  readonly place: Place
  readonly admin: Runtime
  readonly master: Runtime
  #known: Found | null = null

  constructor(place: Place) {
    this.place = place
    this.admin = openRuntime(place.adminSocket)
    this.master = openRuntime(place.masterSocket)
  }

  get isKnown(): boolean {
    return this.#known !== null
  }

  /** The next change reads everything first. */
  doubt(): void {
    this.#known = null
  }

  /** Which process serves now. Throws `edge_unavailable` when none does. */
  async identify(): Promise<number> {
    const { current } = await readWorkers(this.master)
    if (current === null) throw new Failure('edge_unavailable', 'HAProxy has no worker')
    return current
  }

  /** Open requests at each slot of a pool (`s1`), also of workers of before a reload. */
  countOpen(pool: string): Promise<Map<string, number>> {
    return countOpen(this.admin, this.master, pool)
  }

  /** Brings its servers and maps to these routes. */
  async change(routes: Routes): Promise<void> {
    const found = this.#known ?? (await readFound(this.admin, this.place))
    this.doubt()
    for (const { text, expected } of differences(found, routes, this.place)) {
      await this.admin.change(text, expected)
    }
    this.#known = afterwards(routes, found)
  }

  /** After `change`. Returns why certificates were refused. */
  async changeCertificates({ certificates }: Routes): Promise<string[]> {
    const known = this.#known!.certificates
    const pems = new Map(certificates.map(({ host, pem }) => [host, pem]))
    const refusals: string[] = []
    for (const [host, commands] of certificateChanges(this.#known!, certificates, this.place)) {
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
    return refusals
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

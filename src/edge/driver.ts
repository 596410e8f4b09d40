// Drives one HAProxy: what should be served goes to its files first, then, command by command, into it.
// Mind: what it was told is remembered, and forgotten at the first doubt: then everything is read anew.
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { type Frame, fingerprintOf, renderConfiguration } from './configuration.ts'
import { ensureDefaultCertificate } from './default-certificate.ts'
import { afterwards, type Command, certificateChanges, differences } from './differences.ts'
import { type Found, fingerprintOfPem, readFound } from './found.ts'
import { pagesText } from './pages.ts'
import { fileNameOf, type Place, removeOtherCertificates, writeWhole } from './place.ts'
import { leastSlots, mapNames, type Pool, type Routes } from './routes.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { countOpen, readWorkers } from './workers.ts'

const reloadMs = 10_000
const lookAgainMs = 50

/** A class, because what it does is many small things around what it believes HAProxy has. */
export class Driver {
  readonly #place: Place
  readonly #given: Omit<Frame, 'slots'>
  readonly #admin: Runtime
  readonly #master: Runtime
  /** What each file says, by its path. */
  readonly #written = new Map<string, string>()
  #pools: number
  readonly #slots = new Map<number, number>()
  #known: Found | null = null

  /** `frame` may gain its dashboard before the first routes; it has at least so many pools. */
  constructor(place: Place, frame: Omit<Frame, 'slots'>) {
    this.#place = place
    this.#given = frame
    this.#pools = frame.pools
    this.#admin = openRuntime(place.adminSocket)
    this.#master = openRuntime(place.masterSocket)
  }

  /** Writes everything that a start reads. */
  async render({ pools, maps, certificates }: Routes): Promise<void> {
    const place = this.#place
    this.#makeRoomFor(pools)
    await ensureDefaultCertificate(place.defaultCertificate)
    for (const { host, pem } of certificates) await this.#write(place.certificate(host), pem)
    const listed = [place.defaultCertificate, ...certificates.map(({ host }) => place.certificate(host))]
    await this.#write(place.certificateList, `${listed.join('\n')}\n`)
    await this.#write(place.pages, pagesText())
    for (const name of mapNames) await this.#write(place.map(name), mapText(maps[name]))
    await this.#write(place.configuration, renderConfiguration(place, this.#frame(), pools))
  }

  /**
   * Brings the running HAProxy to these routes; reloads it only when its frame is another. Answers why
   * certificates were refused, which keeps nothing else from being served.
   */
  async apply(routes: Routes): Promise<string[]> {
    await this.render(routes)
    try {
      await this.#change(routes)
    } catch (error) {
      // It may have been told otherwise, or be another one by now: looked at whole, once.
      if (codeOf(error) !== 'edge_refused') throw error
      await this.#change(routes)
    }
    const refusals = await this.#changeCertificates(routes)
    const hosts = routes.certificates.map(({ host }) => host)
    for (const path of removeOtherCertificates(this.#place, hosts)) this.#written.delete(path)
    return refusals
  }

  /** Which process serves now. Throws `edge_unavailable` when none does. */
  async identify(): Promise<number> {
    const { current } = await readWorkers(this.#master)
    if (current === null) throw new Failure('edge_unavailable', 'HAProxy has no worker')
    return current
  }

  /** What was told is not believed any more: the next `apply` looks at everything. */
  doubt(): void {
    this.#known = null
  }

  /** Open requests at each slot of a pool (`s1`), also of workers of before a reload. */
  countOpen(pool: string): Promise<Map<string, number>> {
    return countOpen(this.#admin, this.#master, pool)
  }

  /** Only where it says something else than before. */
  async #write(path: string, text: string): Promise<void> {
    if (this.#written.get(path) === text) return
    await writeWhole(path, text)
    this.#written.set(path, text)
  }

  #frame(): Frame {
    return { ...this.#given, pools: this.#pools, slots: this.#slots }
  }

  /**
   * Pools and slots are made by a reload. There is `add server`, but HAProxy 2.6 is known to crash where
   * servers come and go like that, and an edge of ours once ended where they did. Doubling keeps reloads
   * rare: beyond 128 services, or four instances of one.
   */
  #makeRoomFor(pools: readonly Pool[]): void {
    if (pools.length > this.#pools) this.doubt()
    while (pools.length > this.#pools) this.#pools *= 2
    pools.forEach(({ upstreams }, at) => {
      const slots = this.#slots.get(at + 1) ?? leastSlots
      if (upstreams.length <= slots) return
      this.#slots.set(at + 1, 2 ** Math.ceil(Math.log2(upstreams.length)))
      this.doubt()
    })
  }

  async #change(routes: Routes): Promise<void> {
    if (!this.#known) await this.#requireFrame()
    const found = this.#known ?? (await readFound(this.#admin, this.#place))
    this.doubt()
    for (const { text, expected } of differences(found, routes, this.#place)) {
      await this.#admin.change(text, expected)
    }
    this.#known = afterwards(routes, found)
  }

  async #changeCertificates({ certificates }: Routes): Promise<string[]> {
    const known = this.#known!.certificates
    const pems = new Map(certificates.map(({ host, pem }) => [host, pem]))
    const refusals: string[] = []
    for (const [host, commands] of certificateChanges(this.#known!, certificates, this.#place)) {
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

  /** Once more where a transaction was in the way that nobody will ever end, as after a crash. */
  async #transact(commands: Command[]): Promise<void> {
    try {
      for (const { text, expected } of commands) await this.#admin.change(text, expected)
    } catch (error) {
      if (codeOf(error) !== 'edge_refused') throw error
      const listed = await this.#admin.ask('show ssl cert')
      for (const [, file] of listed.matchAll(/^\*(\S+)/gm)) await this.#admin.ask(`abort ssl cert ${file}`)
      for (const { text, expected } of commands) await this.#admin.change(text, expected)
    }
  }

  async #requireFrame(): Promise<void> {
    const wanted = fingerprintOf(this.#place, this.#frame())
    if (await this.#hasFrame(wanted)) return
    // The master hangs up on who asked.
    await this.#master.ask('reload').catch(() => '')
    for (const until = Date.now() + reloadMs; Date.now() < until; await sleep(lookAgainMs)) {
      if (await this.#isUpWith(wanted).catch(() => false)) return
    }
    const hint = `see ${this.#place.output}, or the log of its container`
    throw new Failure('edge_refused', 'HAProxy did not take its new configuration', hint)
  }

  /** The master, too, is away for a moment: it executes itself anew. */
  async #isUpWith(fingerprint: string): Promise<boolean> {
    return (await this.#hasFrame(fingerprint)) && (await this.identify()) > 0
  }

  async #hasFrame(fingerprint: string): Promise<boolean> {
    return (await this.#admin.ask('show env BERTH_FRAME')).includes(fingerprint)
  }
}

function mapText(map: ReadonlyMap<string, string>): string {
  return [...map].map(([key, value]) => `${key} ${value}\n`).join('')
}

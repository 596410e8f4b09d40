// Drives one HAProxy: the wanted state is first written to its files, then applied by commands. The state of
// each process is remembered, see `Knowledge`; after an invalidation it is read again completely.
import { sleep } from '../async/sleep.ts'
import { codeOf, Failure } from '../errors.ts'
import { fingerprintOf, renderConfiguration } from './configuration.ts'
import { DrivenProcess } from './driven-process.ts'
import {
  type EdgeFiles,
  ensureDefaultCertificate,
  removeOtherCertificates,
  writeAtomically,
} from './files.ts'
import type { BaseFrame, Frame } from './frame.ts'
import { pagesText } from './pages.ts'
import { mapNames, minSlots, type Pool, type Routes, serverName } from './routes.ts'

const reloadMs = 10_000
const recheckIntervalMs = 50

/** A class, because it consists of many small operations on the assumed state of HAProxy. */
export class Driver {
  readonly #files: EdgeFiles
  readonly #baseFrame: BaseFrame
  /** The process that accepts new connections. */
  #current: DrivenProcess
  /** Retired processes that finish their connections. Their requests need the current upstreams too. */
  #retired: DrivenProcess[] = []
  /** The last written content of each file, by path. */
  readonly #written = new Map<string, string>()
  #pools: number
  readonly #slots = new Map<number, number>()
  readonly #http2Slots = new Set<string>()

  /** `frame` may get its dashboard before the first routes; it has at least that many pools. */
  constructor(files: EdgeFiles, frame: BaseFrame) {
    this.#files = files
    this.#baseFrame = frame
    this.#pools = frame.pools
    this.#current = new DrivenProcess(files)
  }

  /** Drives `current` from now on. The retired ones get changes too, as far as they accept them. */
  follow(current: EdgeFiles, retired: readonly EdgeFiles[]): void {
    const known = [this.#current, ...this.#retired]
    const processOf = (files: EdgeFiles) =>
      known.find(({ files: { generation } }) => generation === files.generation) ?? new DrivenProcess(files)
    this.#current = processOf(current)
    this.#retired = retired.map(processOf)
  }

  /** Writes all files that a start reads. */
  async render({ pools, maps, certificates }: Routes): Promise<void> {
    const files = this.#files
    this.#makeRoomFor(pools)
    this.#assignProtocols(pools)
    await ensureDefaultCertificate(files.defaultCertificate)
    for (const { host, pem } of certificates) await this.#write(files.certificate(host), pem)
    const listed = [files.defaultCertificate, ...certificates.map(({ host }) => files.certificate(host))]
    await this.#write(files.certificateList, `${listed.join('\n')}\n`)
    await this.#write(files.pages, pagesText())
    for (const name of mapNames) await this.#write(files.map(name), mapText(maps[name]))
    await this.#write(files.configuration, renderConfiguration(files, this.#frame(), pools))
  }

  /** Reloads HAProxy only if its frame differs. Returns the reasons for rejected certificates. */
  async apply(routes: Routes): Promise<string[]> {
    await this.render(routes)
    try {
      await this.#change(routes)
    } catch (error) {
      // The process may have different state, or may have been replaced: compare its whole state once.
      if (codeOf(error) !== 'edge_refused') throw error
      await this.#change(routes)
    }
    // A retired process that has fewer slots or has just ended must not delay the current one.
    for (const one of this.#retired) await one.change(routes).catch(() => undefined)
    const refusals = await this.#current.changeCertificates(routes)
    const hosts = routes.certificates.map(({ host }) => host)
    for (const path of removeOtherCertificates(this.#files, hosts)) this.#written.delete(path)
    return refusals
  }

  /** The serving process. Throws `edge_unavailable` without one. */
  async identify(): Promise<number> {
    return this.#current.identify()
  }

  /** The next `apply` checks the configuration and reads the whole state. */
  invalidate(): void {
    for (const one of [this.#current, ...this.#retired]) one.invalidate()
  }

  /** Open requests at each slot of a pool (`s1`), of all workers of all generations. */
  async countOpen(pool: string): Promise<Map<string, number>> {
    const open = new Map<string, number>()
    for (const one of [this.#current, ...this.#retired]) {
      for (const [slot, count] of await one.countOpen(pool)) open.set(slot, (open.get(slot) ?? 0) + count)
    }
    return open
  }

  async #write(path: string, text: string): Promise<void> {
    if (this.#written.get(path) === text) return
    await writeAtomically(path, text)
    this.#written.set(path, text)
  }

  #frame(): Frame {
    return { ...this.#baseFrame, pools: this.#pools, slots: this.#slots, http2Slots: this.#http2Slots }
  }

  /** By a reload: HAProxy 2.6 crashed after `add server` and its removal. Doubling keeps reloads rare. */
  #makeRoomFor(pools: readonly Pool[]): void {
    if (pools.length > this.#pools) this.invalidate()
    while (pools.length > this.#pools) this.#pools *= 2
    pools.forEach(({ upstreams }, at) => {
      const slots = this.#slots.get(at + 1) ?? minSlots
      if (upstreams.length <= slots) return
      this.#slots.set(at + 1, 2 ** Math.ceil(Math.log2(upstreams.length)))
      this.invalidate()
    })
  }

  /** By a reload, for all free slots of the pool: the next version probably speaks the same. */
  #assignProtocols(pools: readonly Pool[]): void {
    pools.forEach(({ upstreams }, at) => {
      const isHttp2 = (slot: number) => this.#http2Slots.has(serverName(at + 1, slot))
      const changed = upstreams.find((one, slot) => one !== null && one.isHttp2 !== isHttp2(slot + 1))
      if (!changed) return
      for (let slot = 1; slot <= (this.#slots.get(at + 1) ?? minSlots); slot++) {
        const name = serverName(at + 1, slot)
        if ((upstreams[slot - 1] ?? changed).isHttp2) this.#http2Slots.add(name)
        else this.#http2Slots.delete(name)
      }
      this.invalidate()
    })
  }

  async #change(routes: Routes): Promise<void> {
    if (!this.#current.isKnown) await this.#requireFrame()
    await this.#current.change(routes)
  }

  async #requireFrame(): Promise<void> {
    const wanted = fingerprintOf(this.#files, this.#frame())
    if (await this.#hasFrame(wanted)) return
    // The master closes the connection of this command.
    await this.#current.master.ask('reload').catch(() => '')
    for (const until = Date.now() + reloadMs; Date.now() < until; await sleep(recheckIntervalMs)) {
      if (await this.#isUpWith(wanted).catch(() => false)) return
    }
    const hint = `see ${this.#files.output}, or the log of its container`
    throw new Failure('edge_refused', 'HAProxy did not accept its new configuration', hint)
  }

  /** The master is also unavailable for a moment, because it executes itself again. */
  async #isUpWith(fingerprint: string): Promise<boolean> {
    return (await this.#hasFrame(fingerprint)) && (await this.identify()) > 0
  }

  async #hasFrame(fingerprint: string): Promise<boolean> {
    return (await this.#current.admin.ask('show env BERTH_FRAME')).includes(fingerprint)
  }
}

function mapText(map: ReadonlyMap<string, string>): string {
  return [...map].map(([key, value]) => `${key} ${value}\n`).join('')
}

// One running HAProxy under the driver: its sockets and its known state.
import { codeOf, Failure, messageOf } from '../errors.ts'
import { type EdgeFiles, fileNameOf } from './files.ts'
import { type Certificate, mapNames, type Routes, serverName, type Upstream } from './routes.ts'
import {
  countOpen,
  fingerprintOfPem,
  openRuntime,
  type Runtime,
  type RuntimeState,
  readRuntimeState,
  readWorkers,
  type ServerState,
} from './runtime.ts'

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

  invalidate(): void {
    this.#knowledge = unknown
  }

  async identify(): Promise<number> {
    const { current } = await readWorkers(this.master)
    if (current === null) throw new Failure('edge_unavailable', 'HAProxy has no worker')
    return current
  }

  countOpen(pool: string): Promise<Map<string, number>> {
    return countOpen(this.admin, this.master, pool)
  }

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

// The commands that change HAProxy from its current state to the wanted one, in an order in which no request
// fails: targets are added before the rules that send requests to them, and removed after those rules.

interface Command {
  text: string
  /** The output that counts as success besides silence. */
  expected?: RegExp
}

function diff(found: RuntimeState, wanted: Routes, files: EdgeFiles): Command[] {
  const opening: Command[] = []
  const closing: Command[] = []
  wanted.pools.forEach((pool, at) => {
    pool.upstreams.forEach((upstream, slot) => {
      const name = serverName(at + 1, slot + 1)
      const has = found.servers.get(name)
      const isServing = upstream?.state === 'ready' || upstream?.state === 'verifying'
      if (isServing) opening.push(...open(name, has, upstream))
      else if (has) closing.push(...close(name, has, upstream))
    })
  })
  closing.push(...surplus(found, wanted))
  return [
    // Runs before its pool belongs to another service.
    ...forgotten(found, wanted, files),
    ...opening,
    ...mapped(found, wanted, files),
    ...closing,
  ]
}

/** While it is moved to another address it must get no requests. */
function open(name: string, has: ServerState | undefined, { address, port, state }: Upstream): Command[] {
  const weight = state === 'ready' ? 1 : 0
  const isThere = has?.address === address && has.port === port
  const commands: Command[] = []
  if (has && !isThere) {
    if (has.isOpen) commands.push({ text: `set server ${name} state maint` })
    commands.push({ text: `set server ${name} addr ${address} port ${port}` })
  }
  if ((has?.weight ?? 1) !== weight) commands.push({ text: `set server ${name} weight ${weight}` })
  if (!has?.isOpen || !isThere) commands.push({ text: `set server ${name} state ready` })
  return commands
}

/** Not `drain`, which still serves clients with a sticky cookie. Open requests continue. */
function close(name: string, has: ServerState, upstream: Upstream | null): Command[] {
  const commands: Command[] = has.isOpen ? [{ text: `set server ${name} state maint` }] : []
  if (upstream === null && has.port !== 1) commands.push({ text: `shutdown sessions server ${name}` })
  if (upstream === null && has.port !== 1) commands.push({ text: `set server ${name} addr 127.0.0.1 port 1` })
  return commands
}

/** Slots that no upstream needs now. */
function surplus({ servers }: RuntimeState, { pools }: Routes): Command[] {
  return [...servers].flatMap(([name, has]) => {
    const [pool = '', slot = ''] = name.split('/')
    const upstreams = pools[Number(pool.slice(1)) - 1]?.upstreams ?? []
    return Number(slot.slice(1)) > upstreams.length ? close(name, has, null) : []
  })
}

/** Separate: HAProxy has one transaction for certificates, and an abandoned one must not delay a deploy. */
function certificateChanges(
  found: RuntimeState,
  wanted: Certificate[],
  files: EdgeFiles,
): Map<string, Command[]> {
  const known = found.certificates
  const changes = new Map<string, Command[]>()
  for (const { host, pem } of wanted) {
    const commands = install(known, { host, pem }, files)
    if (commands.length > 0) changes.set(host, commands)
  }
  const kept = new Set(wanted.map(({ host }) => fileNameOf(host)))
  for (const name of [...known.keys()].filter((one) => !kept.has(one))) {
    const file = files.certificate(name)
    changes.set(name, [
      { text: `del ssl crt-list ${files.certificateList} ${file}`, expected: /deleted/ },
      { text: `del ssl cert ${file}`, expected: /deleted/ },
    ])
  }
  return changes
}

function install(
  known: RuntimeState['certificates'],
  { host, pem }: Certificate,
  files: EdgeFiles,
): Command[] {
  const name = fileNameOf(host)
  if (known.get(name) === fingerprintOfPem(pem)) return []
  const file = files.certificate(host)
  const replace = [
    { text: `set ssl cert ${file} <<\n${pem.trim()}\n` },
    { text: `commit ssl cert ${file}`, expected: /^Committing/ },
  ]
  if (known.has(name)) return replace
  const list = { text: `add ssl crt-list ${files.certificateList} ${file}`, expected: /^Inserting/ }
  // The certificate may already exist, from a host that left the list.
  return [{ text: `new ssl cert ${file}`, expected: /already exists/ }, ...replace, list]
}

function forgotten({ maps: known }: RuntimeState, { maps }: Routes, files: EdgeFiles): Command[] {
  return mapNames.flatMap((name) =>
    [...known[name].keys()]
      .filter((key) => !maps[name].has(key))
      .map((key) => ({ text: `del map ${files.map(name)} ${key}` })),
  )
}

/** A second `add` of one key would make a duplicate. */
function mapped({ maps: known }: RuntimeState, { maps }: Routes, files: EdgeFiles): Command[] {
  return mapNames.flatMap((name) =>
    [...maps[name]]
      .filter(([key, value]) => known[name].get(key) !== value)
      .map(([key, value]) => ({
        text: `${known[name].has(key) ? 'set' : 'add'} map ${files.map(name)} ${key} ${value}`,
      })),
  )
}

/** The state of HAProxy after these commands. Certificates are tracked separately. */
function expectedState(wanted: Routes, found: RuntimeState): RuntimeState {
  const servers: RuntimeState['servers'] = new Map()
  for (const [name, { weight }] of found.servers) {
    servers.set(name, { address: '127.0.0.1', port: 1, weight, isOpen: false })
  }
  wanted.pools.forEach((pool, at) => {
    pool.upstreams.forEach((upstream, slot) => {
      const name = serverName(at + 1, slot + 1)
      if (upstream) servers.set(name, served(upstream, found.servers.get(name)))
    })
  })
  return { servers, maps: wanted.maps, certificates: found.certificates }
}

/** A leaving upstream keeps its address. */
function served({ address, port, state }: Upstream, before: ServerState | undefined): ServerState {
  if (state !== 'leaving') return { address, port, weight: Number(state === 'ready'), isOpen: true }
  return { ...(before ?? { address, port, weight: 1 }), isOpen: false }
}

// The commands that change HAProxy from its current state to the wanted one, in an order in which no request
// fails: targets are added before the rules that send requests to them, and removed after those rules.

import { type EdgeFiles, fileNameOf } from './files.ts'
import { type Certificate, mapNames, type Routes, serverName, type Upstream } from './routes.ts'
import { fingerprintOfPem, type RuntimeState, type ServerState } from './runtime-state.ts'

export interface Command {
  text: string
  /** The output that counts as success besides silence. */
  expected?: RegExp
}

export function diff(found: RuntimeState, wanted: Routes, files: EdgeFiles): Command[] {
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

/**
 * The commands that install, renew or remove certificates, by host. They are separate, because HAProxy has a
 * single transaction for certificates, and an abandoned one must not delay a deploy.
 */
export function certificateChanges(
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
export function expectedState(wanted: Routes, found: RuntimeState): RuntimeState {
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

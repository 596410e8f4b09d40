// The one bridge network of a server. Its addresses are handed out by us, so its subnet must collide with
// nothing the host can reach: Docker refuses other networks' subnets, but never looks at the host's routes.
import { readFile } from 'node:fs/promises'
import type { NetworkInspectInfo } from 'dockerode'
import { Failure, messageOf } from '../../errors.ts'
import { acceptStatus, type Engine, hasStatus } from '../engine/client.ts'
import { isOurs, type Owner, ownerLabels } from '../engine/names.ts'

export interface Network {
  name: string
  subnet: string
  gateway: string
  /** The interface of the host that its containers are connected to. */
  bridge: string
}

const maxCandidates = 64

/** `subnet` is for a new network. Throws `docker_error` for a foreign name, or if no block is free. */
export async function ensureNetwork(engine: Engine, owner: Owner, subnet: string): Promise<Network> {
  const network = await adopt(engine, owner)
  if (network !== null) return network
  for (const candidate of freeSubnets(subnet, await takenSubnets(engine))) {
    if (await create(engine, owner, candidate)) break
  }
  const adopted = await adopt(engine, owner)
  if (adopted !== null) return adopted
  throw new Failure('docker_error', `no free subnet for the network '${owner.prefix}', from ${subnet} on`)
}

/** The oldest network of our name. Simultaneous calls can make several, which no container could join. */
async function adopt(engine: Engine, owner: Owner): Promise<Network | null> {
  const named = (await listNetworks(engine)).filter(({ Name }) => Name === owner.prefix)
  if (!named.every(({ Labels }) => isOurs(owner, Labels))) {
    throw new Failure(
      'docker_error',
      `the network '${owner.prefix}' does not belong to this server: choose another prefix`,
    )
  }
  const [oldest, ...younger] = named.sort((a, b) => (a.Created < b.Created ? -1 : 1))
  for (const { Id } of younger) await remove(engine, Id)
  return oldest ? toNetwork(oldest) : null
}

async function remove({ call, docker }: Engine, id: string): Promise<void> {
  const removal = call('remove a network', (abortSignal) => docker.getNetwork(id).remove({ abortSignal }))
  await acceptStatus(404, removal)
}

/** False if another network took the subnet; true if our own did, in a call that timed out. */
async function create({ call, docker }: Engine, owner: Owner, subnet: Subnet): Promise<boolean> {
  const options = {
    Name: owner.prefix,
    Driver: 'bridge',
    // Older engines would make a second network of the same name without it.
    CheckDuplicate: true,
    Labels: ownerLabels(owner),
    IPAM: { Driver: 'default', Config: [{ Subnet: formatSubnet(subnet), Gateway: addressAt(subnet, 1) }] },
  }
  try {
    await call(`create the network ${owner.prefix}`, (abortSignal) =>
      docker.createNetwork({ ...options, abortSignal }),
    )
    return true
  } catch (error) {
    if (hasStatus(error, 409)) return true
    if (isOverlap(error)) return false
    throw error
  }
}

function isOverlap(error: unknown): boolean {
  return hasStatus(error, 403) && /overlaps/i.test(messageOf(error))
}

function toNetwork(found: NetworkInspectInfo): Network {
  const [config] = found.IPAM?.Config ?? []
  const bridge = found.Options?.['com.docker.network.bridge.name'] ?? `br-${found.Id.slice(0, 12)}`
  return { name: found.Name, subnet: config?.Subnet ?? '', gateway: config?.Gateway ?? '', bridge }
}

function* freeSubnets(wanted: string, taken: Subnet[]): Generator<Subnet> {
  const first = parseSubnet(wanted)
  if (first === null) throw new Failure('invalid_request', `'${wanted}' is not a subnet like 10.201.0.0/16`)
  for (let count = 0, block = first; count < maxCandidates; count++, block = nextSubnet(block)) {
    if (!taken.some((other) => overlaps(block, other))) yield block
  }
}

async function takenSubnets(engine: Engine): Promise<Subnet[]> {
  return [...(await listNetworks(engine)).flatMap(subnetsOf), ...(await hostRoutes())]
}

async function listNetworks({ call, docker }: Engine): Promise<NetworkInspectInfo[]> {
  return call('list networks', (abortSignal) => docker.listNetworks({ abortSignal }))
}

function subnetsOf(network: NetworkInspectInfo): Subnet[] {
  const subnets = (network.IPAM?.Config ?? []).map((config) => parseSubnet(config.Subnet ?? ''))
  return subnets.filter((subnet) => subnet !== null)
}

/** None where the kernel has no such table. */
async function hostRoutes(): Promise<Subnet[]> {
  return parseRoutes(await readFile('/proc/net/route', 'latin1').catch(() => ''))
}

interface Subnet {
  /** The first address, as a number of 32 bits. */
  first: number
  prefixLength: number
}

/** Null unless the text is `a.b.c.d/n`. Address bits beyond the prefix are dropped, as routers do. */
export function parseSubnet(text: string): Subnet | null {
  const [, address = '', length = ''] = /^(\d+\.\d+\.\d+\.\d+)\/(\d{1,2})$/.exec(text) ?? []
  const bytes = address.split('.').map(Number)
  const prefixLength = Number(length)
  if (length === '' || prefixLength > 32 || bytes.some((byte) => byte > 255)) return null
  return subnetAt(toNumber(bytes), prefixLength)
}

export function formatSubnet({ first, prefixLength }: Subnet): string {
  return `${formatAddress(first)}/${prefixLength}`
}

/** The address at a distance from the first one: 0 names the network, 1 is the gateway. */
export function addressAt({ first }: Subnet, offset: number): string {
  return formatAddress(first + offset)
}

export function overlaps(a: Subnet, b: Subnet): boolean {
  return a.first < b.first + sizeOf(b) && b.first < a.first + sizeOf(a)
}

/** The block of the same size that follows. */
export function nextSubnet(subnet: Subnet): Subnet {
  return { ...subnet, first: subnet.first + sizeOf(subnet) }
}

/** From /proc/net/route, without the default route. Its numbers are little-endian hexadecimal. */
export function parseRoutes(table: string): Subnet[] {
  const rows = table.trim().split('\n').slice(1)
  return rows
    .map((row) => row.split(/\s+/))
    .map(([, destination = '', , , , , , mask = '']) => subnetAt(fromHex(destination), bitsOf(fromHex(mask))))
    .filter(({ prefixLength }) => prefixLength > 0)
}

function subnetAt(address: number, prefixLength: number): Subnet {
  const size = 2 ** (32 - prefixLength)
  return { first: Math.floor(address / size) * size, prefixLength }
}

function sizeOf({ prefixLength }: Subnet): number {
  return 2 ** (32 - prefixLength)
}

function toNumber(bytes: number[]): number {
  return bytes.reduce((number, byte) => number * 256 + byte, 0)
}

function formatAddress(number: number): string {
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.')
}

function fromHex(littleEndian: string): number {
  return toNumber([...Buffer.from(littleEndian, 'hex')].reverse())
}

function bitsOf(mask: number): number {
  return mask.toString(2).replaceAll('0', '').length
}

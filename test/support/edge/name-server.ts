// A UDP name server with the hosts that a test sets; no other names exist. Closed after the test.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, isIPv4 } from 'node:net'
import type { Scope } from '../system/directory.ts'

export interface NameServer {
  /** `127.0.0.1:port` */
  address: string
  /** Sets a host's A and AAAA records. */
  hosts: Map<string, string[]>
  /** While true, queries get no response. */
  isSilent: boolean
}

const headBytes = 12
const typeA = 1
const typeAaaa = 28
const notThere = 3

export async function startNameServer(t: Scope, port = 0): Promise<NameServer> {
  const socket = createSocket('udp4')
  const server: NameServer = { address: '', hosts: new Map(), isSilent: false }
  socket.on('message', (query, peer) => {
    if (!server.isSilent) socket.send(answerTo(query, server.hosts), peer.port, peer.address)
  })
  const listening = once(socket, 'listening')
  socket.bind(port, '127.0.0.1')
  await listening
  t.after(() => socket.close())
  server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`
  return server
}

/** The question, followed by a record for each address of the requested type. */
function answerTo(query: Buffer, hosts: Map<string, string[]>): Buffer {
  const { name, end } = readName(query)
  const type = query.readUInt16BE(end)
  const host = hosts.get(name)
  const records = (host ?? [])
    .filter((address) => type === (isIPv4(address) ? typeA : typeAaaa))
    .map(toRecord)
  const head = Buffer.alloc(headBytes)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (host ? 0 : notThere), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, query.subarray(headBytes, end + 4), ...records])
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let offset = headBytes
  for (let length = query[offset]!; length > 0; length = query[offset]!) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: offset + 1 }
}

function toRecord(address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : bytesOf(address)
  const head = Buffer.alloc(headBytes)
  // A compression pointer to the name in the question.
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(isIPv4(address) ? typeA : typeAaaa, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(1, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

/** The bytes of an IPv6 address, with `::` expanded. */
function bytesOf(address: string): Buffer {
  const [start = '', end = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const zeros = Array(8 - groups(start).length - groups(end).length).fill('0')
  return Buffer.from(
    [...groups(start), ...zeros, ...groups(end)].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  )
}

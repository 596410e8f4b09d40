// Dynamic updates of a zone (RFC 2136), signed with TSIG, over TCP to its primary name server.
import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { decode, encode } from 'dns-packet'
import { Failure, messageOf } from '../errors.ts'
import type { DnsProvider, TxtRecord } from './provider.ts'
import { encodeName, sign, type TsigKey, u16, verify } from './tsig.ts'

export interface UpdateServer {
  host: string
  port: number
}

const exchangeMs = 15_000
const opcodeUpdate = 5 << 11
const [typeSoa, typeTxt] = [6, 16]
const [classIn, classNone] = [1, 254]
const ttlSeconds = 60

/** The key is read for each change, so that a new one needs no restart. */
export function createDynamicUpdate(server: UpdateServer, readKey: () => TsigKey): DnsProvider {
  async function update(record: TxtRecord, isAdded: boolean, signal: AbortSignal): Promise<void> {
    const key = readKey()
    const zone = await findZone(server, record.name, signal)
    const { signed, mac } = sign(updateOf(zone, record, isAdded), key)
    const response = await exchange(server, signed, signal)
    // If the key is rejected, the signature's record has the reason.
    verify(response, key, mac)
    const code = rcodeOf(response)
    if (code === 'NOERROR') return
    const hint = `the name server must allow the key to update TXT records of ${zone}`
    throw new Failure('dns_failed', `the name server ${server.host} refuses the update: ${code}`, hint)
  }
  return {
    present: (record, signal) => update(record, true, signal),
    cleanup: (record, signal) => update(record, false, signal),
  }
}

/** A deletion names the value: other records of the same name stay. */
function updateOf(zone: string, { name, value }: TxtRecord, isAdded: boolean): Buffer {
  const text = Buffer.from(value, 'latin1')
  const data = Buffer.concat([Buffer.from([text.length]), text])
  const head = [u16(randomInt(65_536)), u16(opcodeUpdate), u16(1), u16(0), u16(1), u16(0)]
  const question = [encodeName(zone), u16(typeSoa), u16(classIn)]
  const change = [
    encodeName(name),
    u16(typeTxt),
    u16(isAdded ? classIn : classNone),
    u16(0),
    u16(isAdded ? ttlSeconds : 0),
    u16(data.length),
    data,
  ]
  return Buffer.concat([...head, ...question, ...change])
}

/** The zone of the name, as its primary server knows it: every response has its SOA. */
async function findZone(server: UpdateServer, name: string, signal: AbortSignal): Promise<string> {
  const id = randomInt(65_536)
  const query = encode({ type: 'query', id, questions: [{ type: 'SOA', name }] })
  const response = decode(await exchange(server, query, signal))
  const records = [...(response.answers ?? []), ...(response.authorities ?? [])]
  const zone = records.find(({ type }) => type === 'SOA')?.name
  if (zone !== undefined && (name === zone || name.endsWith(`.${zone}`))) return zone
  throw new Failure('dns_failed', `the name server ${server.host} has no zone of ${name}`)
}

/** The property exists at run time, but not in the types of the library. */
function rcodeOf(response: Buffer): string {
  const code = response.readUInt8(3) & 15
  return (decode(response) as { rcode?: string }).rcode ?? String(code)
}

/** Sends one message and reads the response, each with a length prefix. Throws `dns_failed`. */
async function exchange({ host, port }: UpdateServer, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  signal.throwIfAborted()
  const response = await new Promise<Buffer | Error>((resolve) => {
    const socket = connect(port, host)
    const chunks: Buffer[] = []
    const settle = (outcome: Buffer | Error) => {
      resolve(outcome)
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
    }
    const onAbort = () => settle(new Error('canceled'))
    signal.addEventListener('abort', onAbort)
    socket.setTimeout(exchangeMs, () => settle(new Error(`no response within ${exchangeMs / 1000}s`)))
    socket.once('error', settle)
    socket.once('close', () => settle(new Error('the connection was closed')))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const all = Buffer.concat(chunks)
      const isComplete = all.length >= 2 && all.length >= 2 + all.readUInt16BE(0)
      if (isComplete) settle(all.subarray(2, 2 + all.readUInt16BE(0)))
    })
    socket.write(Buffer.concat([u16(message.length), message]))
  })
  if (response instanceof Error) {
    signal.throwIfAborted()
    throw new Failure('dns_failed', `the name server ${host}:${port}: ${messageOf(response)}`)
  }
  const isAnswer = response.length >= 12 && response.readUInt16BE(0) === message.readUInt16BE(0)
  if (isAnswer) return response
  throw new Failure('dns_failed', `the name server ${host} sent a response that does not match the query`)
}

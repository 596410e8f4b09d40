// Turns a generated step into bytes, sends them, and records the objects they created.
import { exchange, percentEncoded, toBytes, type WireAnswer } from '../support/http/wire.ts'
import type { Content } from './contents.ts'
import { type DeliveryStep, headersOfDelivery } from './deliveries.ts'
import { hasControl } from './spoil.ts'
import type { CallStep, Step } from './steps.ts'
import { spellOut } from './tokens.ts'
import type { World } from './world.ts'

export interface Sent {
  method: string
  /** Path and query as sent; empty for bytes that are not a request. */
  target: string
  answer: WireAnswer | null
  /** Whether a response is required. */
  isWhole: boolean
}

/** The server may wait for the rest of malformed HTTP longer than this. */
const rawTimeoutMs = 100

export async function play(step: Step, world: World): Promise<Sent> {
  if (step.kind === 'raw') {
    const answer = await exchange(world.port, step.bytes, { patienceMs: rawTimeoutMs })
    return { method: '', target: '', answer, isWhole: false }
  }
  if (step.kind === 'delivery') return playDelivery(step, world)
  const request = requestOf(step, world)
  const bytes = toBytes(request)
  const { leavesAfter } = step
  const leaving = leavesAfter === null ? {} : { leaveAfterBytes: Math.floor(leavesAfter * bytes.length) }
  const answer = await exchange(world.port, bytes, leaving)
  const { method, target } = request
  if (answer) remember(method, target, answer, world)
  // uWS rejects a head without Host, with or without a response.
  const isWhole = leavesAfter === null && step.headers.some(([name]) => name === 'Host')
  return { method, target, answer, isWhole }
}

async function playDelivery(step: DeliveryStep, world: World): Promise<Sent> {
  const { provider, content, isNamed } = step
  const webhook = world.webhooks.get(provider)!
  const body = bytesOf(content, world)
  const target = `/api/v1/hooks/${provider}${isNamed ? `?connection=${webhook.connection}` : ''}`
  const own = headersOfDelivery(step, webhook, body)
  const framing: [string, string][] = [
    ['Host', 'localhost'],
    ['Content-Length', String(body.length)],
  ]
  const headers = [...framing, ...dressOf(content), ...own]
  const isWhole = !own.some(([, value]) => hasControl(value))
  const patience = isWhole ? {} : { patienceMs: rawTimeoutMs }
  const answer = await exchange(world.port, toBytes({ method: 'POST', target, headers, body }), patience)
  return { method: 'POST', target, answer, isWhole }
}

function requestOf(step: CallStep, world: World) {
  const { method, path, params, query, content, isChunked } = step
  const spell = (text: string) => spellOut(text, world.meaning)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => percentEncoded(spell(params[name] ?? '')))
  const pairs = query.map((pair) => pair.map((text) => percentEncoded(spell(text))).join('='))
  const target = pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
  const headers = step.headers.map(([name, value]): [string, string] => [name, spell(value)])
  const bytes = content && bytesOf(content, world)
  if (!bytes) return { method, target, headers }
  const framed = isChunked ? chunksOf(bytes) : bytes
  const length: [string, string] = isChunked
    ? ['Transfer-Encoding', 'chunked']
    : ['Content-Length', String(bytes.length)]
  return { method, target, headers: [...headers, ...dressOf(content), length], body: framed }
}

function dressOf({ type, encoding }: Content): [string, string][] {
  return [
    ...(type === null ? [] : [['Content-Type', type] as [string, string]]),
    ...(encoding === null ? [] : [['Content-Encoding', encoding] as [string, string]]),
  ]
}

function bytesOf(content: Content, { meaning, archive }: World): Buffer {
  if ('archive' in content) {
    if (content.archive === 'noise') return Buffer.from('not an archive')
    return content.archive === 'whole' ? archive : archive.subarray(0, archive.length / 2)
  }
  if ('text' in content) return Buffer.from(spellOut(content.text, meaning))
  const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
  return Buffer.from(spellOut(JSON.stringify(content.json), meaning, escaped))
}

function chunksOf(bytes: Buffer): Buffer {
  const half = Math.ceil(bytes.length / 2)
  const parts = [bytes.subarray(0, half), bytes.subarray(half)].filter((part) => part.length > 0)
  const framed = parts.flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}\r\n`),
    part,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')])
}

const nounsOfIds: Record<string, string> = { dep: 'deploys', job: 'jobs', tok: 'tokens', cli: 'cli' }
/** Each is searched for in all responses and stored files. */
const maxPasswords = 20

/** The prefix of an id gives its kind; an object created by PUT is identified by its path. */
function remember(method: string, target: string, { status, text, headers }: WireAnswer, world: World): void {
  if (status >= 300 || method === 'GET' || method === 'HEAD') return
  const path = target.split('?')[0]!
  const last = decodeURIComponent(path.split('/').at(-1)!)
  if (method === 'DELETE' && path.includes('/services/') && !deletesDisk.test(target))
    noteKeptDisk(last, world)
  if (method === 'PUT' && path.includes('/registries/')) add(world, 'registries', last)
  if (!headers.get('content-type')?.includes('json')) return
  for (const [, id, name] of text.matchAll(/"id":"(svc-[0-9a-z]{26})","name":"([a-z0-9-]+)"/g)) {
    world.ids.set(name!, id!)
    add(world, 'services', name!)
    add(world, 'services', id!)
  }
  for (const [, id, name] of text.matchAll(/"id":"(dst-[0-9a-z]{26})","name":"([a-z0-9-]+)"/g)) {
    add(world, 'datastores', name!)
    add(world, 'datastores', id!)
  }
  notePassword(text, world)
  for (const [id, prefix] of text.matchAll(/\b(dep|job|tok|cli)-[0-9a-z]{26}\b/g)) {
    add(world, nounsOfIds[prefix!]!, id)
  }
}

const deletesDisk = /delete(_|%5F)disk=(1|true|yes|on)?(&|$)/i

/** A service is deleted by its id or name; its disk is named after the id. */
function noteKeptDisk(service: string, { keptDisks, ids }: World): void {
  keptDisks.add(ids.get(service) ?? service)
}

/** Allowed only in responses that show a datastore. */
function notePassword(text: string, { secrets, passwords }: World): void {
  const [, id, password] = /"id":"(dst-[0-9a-z]{26})",.*"password":"([^"]+)"/.exec(text) ?? []
  if (!id || !password || passwords.size >= maxPasswords || passwords.has(id)) return
  passwords.add(id)
  secrets.add(`the password of ${id}`, password)
}

function add({ pools }: World, noun: string, one: string): void {
  const pool = pools.get(noun) ?? []
  if (!pool.includes(one)) pools.set(noun, [one, ...pool])
}

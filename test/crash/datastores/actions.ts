// Actions of users on datastores: creating, limiting, restarting, deleting, and repeating requests.
// Expectations are recorded only for acknowledged requests. New limits count as saved even if the response
// says that Docker was unavailable.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../../support/daemon/api.ts'
import type { Chance } from '../random.ts'
import type { DatastoreEntry, DatastoreRequest, RunState } from './book.ts'
import type { Kind } from './line-client.ts'

const memories = { postgres: [0, 128, 192, 256], redis: [0, 32, 64, 128] } as const
const cpus = [0, 0.5, 1, 1.5, 512] as const
const versions = { postgres: '15', redis: '7' } as const
const settleMs = 150_000

export async function create(book: RunState, kind: Kind, name: string): Promise<DatastoreEntry> {
  const body = { kind, name, version: versions[kind] }
  const request = { path: '/datastores', key: randomUUID(), body }
  const response = await book.client.request({ method: 'POST', ...request })
  if (response.status !== 201) throw new Error(`no datastore: ${wordsOf(response)}`)
  const fresh = { wanted: { memory_limit_mb: null, cpu_limit: null }, limiting: Promise.resolve() }
  const entry = { id: response.body.id, name, kind, answer: response.body, ...fresh, isDeleted: false }
  book.datastores.push(entry)
  book.requests.push({ ...request, entry })
  return entry
}

export function limit(book: RunState, entry: DatastoreEntry, chance: Chance): Promise<void> {
  const both = { memory_limit_mb: chance.pick(memories[entry.kind]), cpu_limit: chance.pick(cpus) }
  const [first, second] = Object.entries(both) as [[string, number], [string, number]]
  const body = Object.fromEntries(chance.pick([[first], [second], [first, second]]))
  entry.limiting = entry.limiting.then(() => patch(book, entry, body))
  return entry.limiting
}

async function patch(book: RunState, entry: DatastoreEntry, body: Record<string, number>): Promise<void> {
  const path = `/datastores/${entry.id}`
  const response = await book.client.request({ method: 'PATCH', path, body })
  const isSaved = response.status === 200 || /^limits of '.+' saved, but/.test(response.body?.detail)
  if (!isSaved) return unexpected(book, `PATCH ${path}`, response)
  for (const [key, value] of Object.entries(body))
    entry.wanted[key as keyof DatastoreEntry['wanted']] = value === 0 ? null : value
}

/** Waits until it serves again; until then its clients expect failures. */
export async function restart(book: RunState, entry: DatastoreEntry): Promise<void> {
  const incident = book.incidents.begin('restart', entry.id)
  const request = { path: `/datastores/${entry.id}/restart`, key: randomUUID(), body: undefined }
  const response = await book.client.request({ method: 'POST', ...request })
  if (response.status === 202) book.requests.push({ ...request, entry })
  else unexpected(book, `POST ${request.path}`, response)
  await untilAvailable(book, entry)
  book.incidents.end(incident)
}

/** Repeats a request with its key. A datastore deleted in the meantime may be unknown. */
export async function repeat(book: RunState, { path, key, body, entry }: DatastoreRequest): Promise<void> {
  const response = await book.client.request({ method: 'POST', path, key, body })
  book.ledger.figures.duplicates++
  const isSame = response.status < 300 && response.body.id === entry.id
  if (isSame || (entry.isDeleted && response.status === 404)) return
  const text = `POST ${path} gave ${entry.id}, then ${wordsOf(response)}`
  book.ledger.addViolation('the same key gives the same datastore', text)
}

/** Deletes it and waits until the name is free again. */
export async function remove(book: RunState, entry: DatastoreEntry): Promise<void> {
  const path = `/datastores/${entry.id}`
  const response = await book.client.request({ method: 'DELETE', path: `${path}?purge=true` })
  // A repeated request finds nothing if the first one succeeded without a response.
  const isDone = response.status < 300 || (response.status === 404 && response.attempts > 1)
  if (!isDone) return unexpected(book, `DELETE ${path}`, response)
  entry.isDeleted = true
  const isMissing = async () => (await book.client.request({ method: 'GET', path })).status === 404
  if (!(await untilTrue(isMissing)))
    book.ledger.addViolation('a deleted datastore is removed', `${entry.id} still exists`)
}

export async function untilAvailable(book: RunState, entry: DatastoreEntry): Promise<void> {
  let last = ''
  const isAvailable = async () => {
    const { body } = await book.client.request({ method: 'GET', path: `/datastores/${entry.id}` })
    last = JSON.stringify({ ...body, password: undefined })
    return body.status === 'available'
  }
  if (await untilTrue(isAvailable)) return
  book.ledger.addViolation('datastores recover', `${entry.name} does not recover`, [last])
}

async function untilTrue(look: () => Promise<boolean>): Promise<boolean> {
  for (const deadline = Date.now() + settleMs; ; await sleep(50)) {
    if (await look()) return true
    if (Date.now() > deadline) return false
  }
}

function unexpected({ ledger }: RunState, what: string, response: Answer): void {
  ledger.addViolation('responses follow the chart', `${what}: ${wordsOf(response)}`)
}

function wordsOf({ status, body }: Answer): string {
  return `${status} ${body?.code ?? body?.id}: ${body?.detail ?? body?.status}`
}

// Checks of what was promised, when all is done: by the API, and in the containers themselves.
import type { Api, Body } from '../../support/api.ts'
import { findLeftovers } from '../../support/leftovers.ts'
import { type Book, type DatastoreEntry, living } from './book.ts'
import { inspectContainer } from './container.ts'
import { historyFaults } from './histories.ts'
import { type LimitLook, limitFault } from './limits.ts'
import { rowFaults, rowKinds } from './rows.ts'
import type { Writer } from './writer.ts'

/** What a creation fixed for good. */
const fixed = [
  'id',
  'name',
  'kind',
  'version',
  'database',
  'username',
  'password',
  'created_at',
  'internal_url',
]
const fixedOnceThere = ['host_port', 'external_url']

export async function checkPromises(api: Api, book: Book): Promise<void> {
  const { ledger } = book
  const listed: Body[] = await api.get('/datastores')
  const known = living(book).map(({ id }) => id)
  for (const { id, name } of listed.filter(({ id }) => !known.includes(id)))
    ledger.breach('a request is carried out once', `${name} ${id} is there, which nobody knows`)
  for (const entry of living(book)) await checkRecord(api, book, entry)
  for (const { id } of book.datastores.filter(({ isDeleted }) => isDeleted)) {
    const { status } = await api.call('GET', `/datastores/${id}`)
    if (status !== 404) ledger.breach('a deleted datastore stays deleted', `${id} answers ${status}`)
  }
}

async function checkRecord(api: Api, { ledger }: Book, entry: DatastoreEntry): Promise<void> {
  const { status, body } = await api.call('GET', `/datastores/${entry.id}`)
  if (status !== 200) return ledger.breach('no datastore is lost', `${entry.name} ${entry.id}: ${status}`)
  const there = fixedOnceThere.filter((key) => entry.answer[key] !== null)
  const changed = [...fixed, ...there].filter((key) => body[key] !== entry.answer[key])
  // The password is one of them.
  for (const key of changed) ledger.breach('what a creation fixed stays', `${entry.name}: ${key} changed`)
  const limits = { memory_limit_mb: body.memory_limit_mb, cpu_limit: body.cpu_limit }
  const [wanted, shown] = [JSON.stringify(entry.wanted), JSON.stringify(limits)]
  if (wanted !== shown)
    ledger.breach('limits are kept', `${entry.name}: ${wanted} was acknowledged, ${shown} is`)
  const history = await api.get(`/datastores/${entry.id}/history`)
  const evidence = history
    .slice(-40)
    .map((line: Body) => `${line.at} ${line.event} -> ${line.state} (${line.status})`)
  for (const fault of historyFaults(history, body))
    ledger.breach('histories follow the chart', `${entry.name} ${entry.id}: ${fault}`, evidence)
}

/** Each has one container that runs with its limits, and one volume; nobody else has any. */
export async function checkContainers(look: LimitLook, book: Book): Promise<void> {
  const { containers, volumes } = await findLeftovers(look.prefix)
  const names = living(book)
    .map(({ name }) => `${look.prefix}-datastore-${name}`)
    .sort()
  for (const [what, found] of Object.entries({ containers, volumes })) {
    if (found.join() === names.join()) continue
    const text = `${what}: ${names.join(', ')} should be there, ${found.join(', ')} are`
    book.ledger.breach('Docker has what is wanted and no more', text)
  }
  for (const entry of living(book)) {
    const { State, HostConfig } = await inspectContainer(look, entry)
    const shown = `${State.Status}, ${HostConfig.RestartPolicy?.Name}`
    if (shown !== 'running, unless-stopped')
      book.ledger.breach('containers are as they are wanted', `${entry.name} is ${shown}`)
    const fault = await limitFault(look, entry)
    if (fault !== null) book.ledger.breach('containers are as they are wanted', fault)
  }
}

/** Read back by a client of its own; the daemon may be away. */
export async function checkRows(prepared: string, writers: Writer[], { ledger }: Book): Promise<void> {
  for (const { entry, url, place, sent, acknowledged } of writers) {
    const reading = rowKinds[entry.kind].readAll(prepared, url, place)
    const found = await reading.catch((error: Error) => {
      ledger.breach('every acknowledged row is there', `${entry.name} ${place}: ${error.message}`)
      return null
    })
    for (const fault of found === null ? [] : rowFaults(found, { sent, acknowledged }))
      ledger.breach('every acknowledged row is there', `${entry.name} ${place}: ${fault}`)
  }
}

// Checks the promises at the end, through the API and in the containers.
import type { Api, Body } from '../../support/daemon/api.ts'
import { findLeftovers } from '../../support/daemon/leftovers.ts'
import { type DatastoreEntry, living, type RunState } from './book.ts'
import { inspectContainer } from './container.ts'
import { historyFaults } from './histories.ts'
import { findLimitMismatch, type InspectTarget } from './limits.ts'
import { rowFaults, rowKinds } from './rows.ts'
import type { Writer } from './writer.ts'

/** Properties that are fixed at creation. */
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

export async function checkPromises(api: Api, book: RunState): Promise<void> {
  const { ledger } = book
  const listed: Body[] = await api.get('/datastores')
  const known = living(book).map(({ id }) => id)
  for (const { id, name } of listed.filter(({ id }) => !known.includes(id)))
    ledger.addViolation('a request is executed once', `${name} ${id} exists, but was never acknowledged`)
  for (const entry of living(book)) await checkRecord(api, book, entry)
  for (const { id } of book.datastores.filter(({ isDeleted }) => isDeleted)) {
    const { status } = await api.call('GET', `/datastores/${id}`)
    if (status !== 404) ledger.addViolation('a deleted datastore stays deleted', `${id} answers ${status}`)
  }
}

async function checkRecord(api: Api, { ledger }: RunState, entry: DatastoreEntry): Promise<void> {
  const { status, body } = await api.call('GET', `/datastores/${entry.id}`)
  if (status !== 200)
    return ledger.addViolation('no datastore is lost', `${entry.name} ${entry.id}: ${status}`)
  const there = fixedOnceThere.filter((key) => entry.answer[key] !== null)
  const changed = [...fixed, ...there].filter((key) => body[key] !== entry.answer[key])
  // The password is one of them, so values are not logged.
  for (const key of changed)
    ledger.addViolation('fixed properties do not change', `${entry.name}: ${key} changed`)
  const limits = { memory_limit_mb: body.memory_limit_mb, cpu_limit: body.cpu_limit }
  const [wanted, shown] = [JSON.stringify(entry.wanted), JSON.stringify(limits)]
  if (wanted !== shown)
    ledger.addViolation('limits are durable', `${entry.name}: ${wanted} was acknowledged, but it is ${shown}`)
  const history = await api.get(`/datastores/${entry.id}/history`)
  const evidence = history
    .slice(-40)
    .map((line: Body) => `${line.at} ${line.event} -> ${line.state} (${line.status})`)
  for (const fault of historyFaults(history, body))
    ledger.addViolation('histories follow the chart', `${entry.name} ${entry.id}: ${fault}`, evidence)
}

/** Each datastore has one running container with its limits and one volume; there are no others. */
export async function checkContainers(look: InspectTarget, book: RunState): Promise<void> {
  const { containers, volumes } = await findLeftovers(look.prefix)
  const names = living(book)
    .map(({ name }) => `${look.prefix}-datastore-${name}`)
    .sort()
  for (const [what, found] of Object.entries({ containers, volumes })) {
    if (found.join() === names.join()) continue
    const text = `${what}: ${names.join(', ')} are expected, found ${found.join(', ')}`
    book.ledger.addViolation('Docker has exactly the wanted objects', text)
  }
  for (const entry of living(book)) {
    const { State, HostConfig } = await inspectContainer(look, entry)
    const label = `${State.Status}, ${HostConfig.RestartPolicy?.Name}`
    if (label !== 'running, unless-stopped')
      book.ledger.addViolation('containers match their settings', `${entry.name} is ${label}`)
    const fault = await findLimitMismatch(look, entry)
    if (fault !== null) book.ledger.addViolation('containers match their settings', fault)
  }
}

/** Reads the rows with a new client; the daemon may be down. */
export async function checkRows(prepared: string, writers: Writer[], { ledger }: RunState): Promise<void> {
  for (const { entry, url, table: place, sent, acknowledged } of writers) {
    const reading = rowKinds[entry.kind].readAll(prepared, url, place)
    const records = await reading.catch((error: Error) => {
      ledger.addViolation('no acknowledged row is lost', `${entry.name} ${place}: ${error.message}`)
      return null
    })
    for (const fault of records === null ? [] : rowFaults(records, { sent, acknowledged }))
      ledger.addViolation('no acknowledged row is lost', `${entry.name} ${place}: ${fault}`)
  }
}

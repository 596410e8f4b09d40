// Checks the promises at the end, through the API and on disk.
import type { Api, Body } from '../../support/daemon/api.ts'
import { type ChartCopy, describeHistory, historyFaults } from '../histories.ts'
import { noOrphans, type StoreView } from '../stored.ts'
import { type Book, type DatastoreEntry, living } from './users.ts'

const begin = 'starting.pulling'
const fromAny = ['failed', 'starting.stopping', 'deleting']
const chart: ChartCopy = {
  first: begin,
  follows: {
    'starting.stopping': [begin, ...fromAny],
    'starting.pulling': ['starting.starting', ...fromAny],
    'starting.starting': ['starting.probing', ...fromAny],
    'starting.probing': ['available', ...fromAny],
    available: [begin, ...fromAny],
    failed: [begin, ...fromAny],
    deleting: ['deleted'],
  },
  statusesOf: (state) => (state.startsWith('starting') ? ['creating', 'restarting', 'failed'] : [state]),
  /** `wanted.life.starting.pulling limits.settled` is in `starting.pulling`. */
  regionOf: (state) => /^wanted\.life\.(\S+)/.exec(state)?.[1] ?? state,
  aside: /^limits\.set$|^applyLimits\./,
}
/** Properties that are fixed at creation. */
const fixed = 'id name kind version database username password created_at internal_url'.split(' ')
/** Once they are there, unless the daemon says that the port is in use: a killed Docker may keep it. */
const fixedOnceThere = ['host_port', 'external_url']

export async function checkPromises(api: Api, book: Book): Promise<void> {
  const { ledger } = book.drill
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

const isAboutPort = (line: string, name: string) =>
  line.includes('the port of a datastore is in use') && line.includes(`"datastore":"${name}"`)

async function checkRecord(api: Api, { drill }: Book, entry: DatastoreEntry): Promise<void> {
  const { ledger, victim } = drill
  const { name, id, answer, wanted } = entry
  const { status, body } = await api.call('GET', `/datastores/${id}`)
  if (status !== 200) return ledger.addViolation('no datastore is lost', `${name} ${id}: ${status}`)
  const hasMoved = victim.log.some((line) => isAboutPort(line, name))
  const there = fixedOnceThere.filter((key) => answer[key] !== null && !hasMoved)
  // The password is one of them, so values are not logged.
  for (const key of [...fixed, ...there].filter((key) => body[key] !== answer[key]))
    ledger.addViolation('fixed properties do not change', `${name}: ${key} changed`)
  const { memory_limit_mb, cpu_limit } = body
  const [asked, shown] = [wanted, { memory_limit_mb, cpu_limit }].map((limits) => JSON.stringify(limits))
  if (asked !== shown)
    ledger.addViolation('limits are durable', `${name}: ${asked} was acknowledged, but it is ${shown}`)
  const history = await api.get(`/datastores/${id}/history`)
  for (const fault of historyFaults(chart, history, body))
    ledger.addViolation('histories follow the chart', `${name} ${id}: ${fault}`, describeHistory(history))
}

/** Rows of existing datastores, and no others. */
export function checkRows(
  view: StoreView,
  { drill: { ledger, isForeign } }: Book,
  entries: DatastoreEntry[],
): void {
  const keysOf = (table: string) => view.keysOf(table).filter((key) => !isForeign(key))
  const ids = JSON.stringify(entries.map(({ id }) => id).sort())
  for (const table of ['datastores', 'datastore_passwords']) {
    const found = `[${keysOf(table).sort().join()}]`
    if (found !== ids) ledger.addViolation(noOrphans, `${table}: ${ids} are expected, found ${found}`)
  }
  const [held, given] = ['deploy_addresses', 'addresses'].map((table) => view.keysOf(table).length)
  if (held !== given) ledger.addViolation(noOrphans, `${given} addresses are given, ${held} are held`)
  for (const table of ['names', 'datastore_ports', 'deploy_addresses']) {
    const found = keysOf(table)
    if (found.length !== entries.length)
      ledger.addViolation(noOrphans, `${table}: ${found.join(', ')} for ${entries.length} datastores`)
  }
}

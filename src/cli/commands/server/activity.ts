// `berth activity`: what the actors of the server did, and with --follow what they do.
import type { Activity } from '../../../api/activity.ts'
import { followEvents } from '../../client/event-stream.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { deployStyle, requesterName } from '../../deploy/labels.ts'
import { exitCodes } from '../../failure.ts'
import { parseWholeNumber } from '../../service/setting-flags.ts'
import { type Column, tableLines } from '../../terminal/table.ts'

interface ActivityOptions {
  kind?: string
  limit?: number
  follow?: boolean
}

/** The most that the server returns at once. */
const maxLimit = 500

export function addActivityCommands(program: BerthCommand): void {
  program
    .command('activity')
    .argument('[name]', 'only this service or datastore')
    .description('list what the server did lately; each transition of a deploy, a backup, a certificate, …')
    .option('--kind <kind>', 'only one kind, such as deploy or certificate')
    .option('-n, --limit <number>', 'so many of the newest (30)', parseWholeNumber)
    .option('-f, --follow', 'follow new ones until Ctrl-C')
    .examples('berth activity', 'berth activity shop -f', 'berth activity --kind certificate -n 100')
    .runs(showActivity)
}

async function showActivity(cli: Cli, name: string | undefined, options: ActivityOptions): Promise<number> {
  const { out } = cli
  const { kind, limit = 30, follow } = options
  const query = { kind, service: name }
  const look = (limit: number) =>
    cli.client.call<Activity[]>('GET', '/activity', { query: { ...query, limit } })
  const newest = await look(limit)
  if (out.isJson && !follow) out.json(newest)
  else if (newest.length === 0 && !follow) out.say('nothing happened yet')
  else print(cli, newest, true)
  if (follow) await followNew(cli, newest[0]?.number ?? 0, look)
  return cli.signal.aborted ? exitCodes.interrupted : exitCodes.ok
}

/** The change feed only signals that there is something: the activity has the names too. */
async function followNew(cli: Cli, since: number, look: (limit: number) => Promise<Activity[]>) {
  let last = since
  for await (const { id, event } of followEvents(cli, '/events')) {
    if (event === 'change' && Number(id) <= last) continue
    const fresh = (await look(maxLimit)).filter(({ number }) => number > last)
    print(cli, fresh, false)
    last = fresh[0]?.number ?? last
  }
}

/** The newest last, so that following continues the list. */
function print({ out }: Cli, entries: Activity[], hasHeading: boolean): void {
  const rows = entries.toReversed()
  if (out.isJson) for (const row of rows) out.json(row)
  else for (const line of tableLines(out, rows, columns).slice(hasHeading ? 0 : 1)) out.print(line)
}

// Of a fixed width where the texts are short, so that lines which follow are aligned.
const columns: Column<Activity>[] = [
  { heading: 'AT', text: ({ at }) => at, style: () => 'dim' },
  { heading: 'OF', text: ({ service_name, service_id }) => (service_name ?? service_id ?? '').padEnd(16) },
  { heading: 'KIND', text: ({ kind }) => kind.padEnd(14) },
  { heading: 'STATE', text: ({ state }) => shortState(state).padEnd(14), style: deployStyle },
  { heading: 'BY', text: ({ by }) => requesterName(by).padEnd(13) },
  { heading: 'EVENT', text: ({ event }) => event, isFlexible: true },
]

/** `running.building` is `building`; with regions, the state in each of them. */
function shortState(state: string): string {
  const paths = state.split(' ')
  return paths.map((path) => path.split('.').at(-1)).join(' ')
}

// `berth activity`: what the actors of the server did, and with --follow what they do.
import type { Activity } from '../../../api/activity.ts'
import type { FeedChange } from '../../../api/feed.ts'
import { maxPageSize, type Query } from '../../client/client.ts'
import { followEvents, parseEvent } from '../../client/event-stream.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { deployStyle, requesterName, shortState } from '../../deploy/labels.ts'
import { exitCodes } from '../../failure.ts'
import { parseWholeNumber } from '../../service/setting-flags.ts'
import { type Column, tableLines } from '../../terminal/table.ts'

type Wanted = Record<'kind' | 'service', string | undefined>

type Look = (query: Query) => Promise<Activity[]>

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

async function showActivity(
  cli: Cli,
  name: string | undefined,
  { kind, limit = 30, follow }: { kind?: string; limit?: number; follow?: boolean },
): Promise<number> {
  const { out } = cli
  const wanted = { kind, service: name }
  const look: Look = (query) => cli.client.call<Activity[]>('GET', '/activity', { query })
  const newest = await look({ ...wanted, limit })
  if (out.isJson && !follow) out.json(newest)
  else if (newest.length === 0 && !follow) out.say(kind || name ? 'nothing matches' : 'nothing happened yet')
  else print(cli, newest, true)
  if (follow) await followNew(cli, newest, look, wanted)
  return cli.signal.aborted ? exitCodes.interrupted : exitCodes.ok
}

/** The feed has ids of services but no names; a new one is looked up once. */
async function followNew(cli: Cli, newest: Activity[], look: Look, wanted: Wanted): Promise<void> {
  const names = new Map([null, ...newest].map((one) => [one?.service_id ?? null, one?.service_name ?? null]))
  let last = newest[0]?.number ?? 0
  for await (const { id, event, data } of followEvents(cli, '/events')) {
    if (event !== 'change') {
      const missed = (await look({ ...wanted, limit: maxPageSize })).filter(({ number }) => number > last)
      print(cli, missed, false)
      last = missed[0]?.number ?? last
      continue
    }
    const { transition, service_id } = parseEvent<FeedChange>(data, ['kind'])
    const number = Number(id)
    if (number <= last || !transition || (wanted.kind ?? transition.kind) !== transition.kind) continue
    // As in the list: anyone can request a terminal login.
    if (transition.kind === 'terminal-login' && /^(pending|expired)$/.test(transition.state)) continue
    last = number
    if (!names.has(service_id)) {
      const [known] = await look({ service: service_id!, limit: 1 }).catch(() => [])
      if (known) names.set(service_id, known.service_name)
    }
    const service_name = names.get(service_id) ?? null
    if (![service_id, service_name, undefined].includes(wanted.service)) continue
    print(cli, [{ number, service_id, service_name, ...transition }], false)
  }
}

/** The newest last, so that following continues the list. */
function print({ out }: Cli, entries: Activity[], hasHeading: boolean): void {
  const rows = entries.toReversed()
  const shown = out.isTerminal && out.width() < roomyColumns ? columns : columns.toSpliced(-1, 0, idColumn)
  if (out.isJson) for (const row of rows) out.json(row)
  else for (const line of tableLines(out, rows, shown).slice(hasHeading ? 0 : 1)) out.print(line)
}

// Padded, so that lines which follow are aligned; at 80 columns they still show most events.
const columns: Column<Activity>[] = [
  { heading: 'AT', text: ({ at }) => at.replace(/\.\d+/, ''), style: () => 'dim' },
  { heading: 'OF', text: ({ service_name, service_id }) => (service_name ?? service_id ?? '').padEnd(12) },
  { heading: 'KIND', text: ({ kind }) => kind.padEnd(10) },
  { heading: 'STATE', text: ({ state }) => shortState(state).padEnd(11), style: deployStyle },
  { heading: 'EVENT', text: causeOf, isFlexible: true },
]

const idColumn: Column<Activity> = { heading: 'ID', text: ({ actor_id }) => actor_id.padEnd(30) }
const roomyColumns = 110

/** `created by ada`, `buildImage.done` */
function causeOf({ event, by }: Activity): string {
  return by ? `${event} by ${requesterName(by)}` : event
}

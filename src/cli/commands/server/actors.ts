// Lists the actors behind the records, and retries or discards actors that an internal error stopped.
import type { Actor, DiscardedActor } from '../../../api/actor.ts'
import { sleep } from '../../../async/sleep.ts'
import { maxPageSize } from '../../client/client.ts'
import { followEvents } from '../../client/event-stream.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { shortState } from '../../deploy/labels.ts'
import { CliFailure, interruption } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { age } from '../../terminal/ages.ts'
import { plain } from '../../terminal/output.ts'
import { confirm } from '../../terminal/prompts.ts'
import { type Column, printList, tableLines } from '../../terminal/table.ts'

export function addActorCommands(program: BerthCommand): void {
  program
    .command('actors')
    .description('list active and parked actors')
    .option('--parked', 'only parked actors')
    .option('-w, --watch', 'follow them until Ctrl-C')
    .examples('berth actors', 'berth actors --parked', 'berth actors --watch')
    .runs(list)
  program
    .command('retry')
    .argument('<id>', 'the parked actor')
    .description('resume a parked actor')
    .examples('berth retry edge', 'berth retry dep-01jexample')
    .runs(retry)
  program
    .command('discard')
    .argument('<id>', 'the parked actor')
    .description('end a parked actor; lists the objects that it leaves')
    .option('--yes', 'do not ask')
    .examples('berth discard dep-01jexample', 'berth discard bak-01jexample --yes')
    .runs(discard)
}

/** Changes that arrive together cause one request. */
const batchMs = 250

async function list(cli: Cli, { parked, watch }: { parked?: boolean; watch?: boolean }): Promise<void> {
  const { client, out } = cli
  const look = () => client.call<Actor[]>('GET', '/actors', { query: { parked, limit: maxPageSize } })
  const notice = parked ? 'no actor is parked' : 'no actor is active'
  if (watch) return watchList(cli, look, notice)
  const actors = await look()
  printList(out, actors, notice, columnsOf(actors))
}

/** Until Ctrl-C. A live terminal shows the list in place; otherwise it is printed after each change. */
async function watchList(cli: Cli, look: () => Promise<Actor[]>, notice: string): Promise<never> {
  const { out, signal } = cli
  const isDrawn = out.isLive && out.isTerminal && !out.isJson
  let isStale = false
  const reading = (async () => {
    for await (const _ of followEvents(cli, '/events')) isStale = true
  })()
  while (!signal.aborted) {
    if (isStale) {
      isStale = false
      const actors = await look()
      const lines = () => (actors.length === 0 ? [notice] : tableLines(out, actors, columnsOf(actors)))
      if (isDrawn) out.animate((spinner) => [...lines(), '', out.tint('dim', `${spinner} Ctrl-C ends`)])
      else printList(out, actors, notice, columnsOf(actors))
    }
    await Promise.race([reading, sleep(batchMs, signal).catch(() => undefined)])
  }
  out.rest()
  throw interruption()
}

function columnsOf(actors: Actor[]): Column<Actor>[] {
  return [
    { heading: 'ID', text: ({ id }) => id, style: () => 'bold' },
    { heading: 'KIND', text: ({ kind }) => kind },
    { heading: 'OF', text: ({ service_name, service_id }) => service_name ?? service_id ?? '' },
    {
      heading: 'STATUS',
      text: ({ parked, status, state }) =>
        parked ? 'parked' : state?.startsWith('running.') ? shortState(state) : status,
      style: ({ parked }) => (parked ? 'red' : null),
    },
    { heading: 'SINCE', text: ({ since }) => (since ? age(since) : '') },
    ...(actors.some(({ parked }) => parked !== null) ? [reasonColumn] : []),
  ]
}

const reasonColumn: Column<Actor> = {
  heading: 'REASON',
  text: ({ parked }) => parked?.reason ?? '',
  isFlexible: true,
}

const pathOf = (id: string, verb: string) => `/actors/${encodeURIComponent(id)}/${verb}`

async function retry(cli: Cli, id: string): Promise<void> {
  const { client, out } = cli
  const actor = await client.call<Actor>('POST', pathOf(id, 'retry'))
  if (out.isJson) return out.json(actor)
  printDone(cli, `${plain(id)} is resumed: it is ${plain(actor.status)}`)
  printNext(cli, 'berth actors --parked')
}

async function discard(cli: Cli, id: string, { yes }: { yes?: boolean }): Promise<void> {
  const { client, out } = cli
  if (!yes) {
    const parked = await client.call<Actor[]>('GET', '/actors', { query: { parked: true } })
    const text = parked.find((actor) => actor.id === id)?.parked?.on_discard
    const message = `Discard ${plain(id)}?${text ? ` Then ${plain(text)}.` : ''}`
    if (!(await confirm(cli, { message, instead: 'confirm with --yes' }))) {
      throw new CliFailure('nothing was discarded')
    }
  }
  const discarded = await client.call<DiscardedActor>('POST', pathOf(id, 'discard'))
  if (out.isJson) return out.json(discarded)
  printDone(cli, `${plain(id)} is discarded`)
  const { left_behind: left } = discarded
  if (left.length === 0) return out.say('   it left no objects behind')
  out.say('   it left these objects behind, and none of them was removed:')
  for (const { type, name } of left) out.say(`   ${type} ${plain(name)}`)
}

// `berth history`: every transition of a deploy's chart.
import type { Command } from 'commander'
import type { HistoryEntry } from '../../http/schemas/deploy.ts'
import { deployPath } from '../client.ts'
import type { Runner } from '../command.ts'
import { chosenDeploy } from '../deploy/chosen.ts'
import { deployStyle } from '../deploy/words.ts'
import { examples } from '../examples.ts'
import type { Cli } from '../session.ts'
import { duration } from '../terminal/quantities.ts'
import { printTable } from '../terminal/table.ts'

interface Row extends HistoryEntry {
  /** Since the transition before it; null for the first. */
  afterMs: number | null
}

export function addHistoryCommands(program: Command, run: Runner): void {
  program
    .command('history')
    .argument('[deploy]', 'a deploy, or a service whose newest one is meant')
    .description('every transition of a deploy, as its chart made them')
    .addHelpText(
      'after',
      examples('berth history shop', 'berth history dep-01k5yq0v3nhx8m2r7c9d4f6gbt --json'),
    )
    .action(run(showHistory))
}

async function showHistory(cli: Cli, idOrName: string | undefined): Promise<void> {
  const { client, out } = cli
  const { id } = await chosenDeploy(cli, idOrName)
  const entries = await client.call<HistoryEntry[]>('GET', `${deployPath(id)}/history`)
  if (out.isJson) return out.json(entries)
  const rows = entries.map((entry, index): Row => {
    const before = entries[index - 1]
    return { ...entry, afterMs: before ? Date.parse(entry.at) - Date.parse(before.at) : null }
  })
  await printTable(out, rows, [
    { heading: 'AT', text: ({ at }) => at, style: () => 'dim' },
    { heading: 'AFTER', text: ({ afterMs }) => (afterMs === null ? '' : duration(afterMs)), isRight: true },
    { heading: 'STATE', text: ({ state }) => state, style: (row) => deployStyle(row) },
    { heading: 'EVENT', text: ({ event }) => event, isFlexible: true },
  ])
}

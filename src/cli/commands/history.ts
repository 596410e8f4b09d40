// `berth history`: every transition of a deploy or a job run.
import type { HistoryEntry } from '../../api/actor.ts'
import { duration } from '../../quantities.ts'
import { deployPath, jobPath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { deployStyle, requesterName } from '../deploy/labels.ts'
import { runStyle } from '../job/labels.ts'
import { resolveDeploy } from '../service/resolve-target.ts'
import { printTable } from '../terminal/table.ts'

interface Row extends HistoryEntry {
  /** The time since the previous transition; null for the first. */
  afterMs: number | null
}

export function addHistoryCommands(program: BerthCommand): void {
  program
    .command('history')
    .argument('[deploy]', 'a deploy, a job run, or a service for its newest deploy')
    .description('list every transition of a deploy or job run')
    .examples(
      'berth history shop',
      'berth history dep-01k5yq0v3nhx8m2r7c9d4f6gbt --json',
      'berth history job-01k5yq0v3nhx8m2r7c9d4f6gbt',
    )
    .runs(showHistory)
}

async function showHistory(cli: Cli, idOrName: string | undefined): Promise<void> {
  const { client, out } = cli
  const isRun = idOrName?.startsWith('job-')
  const path = isRun ? jobPath(idOrName!) : deployPath((await resolveDeploy(cli, idOrName)).id)
  const entries = await client.call<HistoryEntry[]>('GET', `${path}/history`)
  if (out.isJson) return out.json(entries)
  const rows = entries.map((entry, index): Row => {
    const before = entries[index - 1]
    return { ...entry, afterMs: before ? Date.parse(entry.at) - Date.parse(before.at) : null }
  })
  printTable(out, rows, [
    { heading: 'AT', text: ({ at }) => at, style: () => 'dim' },
    { heading: 'AFTER', text: ({ afterMs }) => (afterMs === null ? '' : duration(afterMs)), isRight: true },
    { heading: 'STATE', text: ({ state }) => state, style: isRun ? runStyle : deployStyle },
    { heading: 'BY', text: ({ by }) => requesterName(by) },
    { heading: 'EVENT', text: ({ event }) => event, isFlexible: true },
  ])
}

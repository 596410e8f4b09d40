// `berth charts`: the statecharts of the server, where their actors are, and how long their states take.
import { text } from 'node:stream/consumers'
import type { Machine, MachineSummary, MachineTimes } from '../../../api/machine.ts'
import { duration } from '../../../quantities.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { usageFailure } from '../../failure.ts'
import { printNext } from '../../follow-up.ts'
import { plain } from '../../terminal/output.ts'
import { printTable } from '../../terminal/table.ts'

export function addChartCommands(program: BerthCommand): void {
  program
    .command('charts')
    .argument('[kind]', 'a kind of actor, such as deploy')
    .description('show how many actors are in which state; or the states of one chart')
    .option('--mermaid', 'the chart as Mermaid text')
    .examples('berth charts', 'berth charts deploy', 'berth charts deploy --mermaid > deploy.mmd')
    .runs(showCharts)
}

async function showCharts(cli: Cli, kind: string | undefined, { mermaid }: { mermaid?: boolean }) {
  if (kind !== undefined) return mermaid ? printMermaid(cli, kind) : showChart(cli, kind)
  if (mermaid) throw usageFailure('--mermaid prints one chart', 'name its kind: berth charts KIND --mermaid')
  const { client, out } = cli
  const charts = await client.call<MachineSummary[]>('GET', '/machines')
  if (out.isJson) return out.json(charts)
  printTable(out, charts, [
    { heading: 'KIND', text: ({ kind }) => kind, style: () => 'bold' },
    { heading: 'ACTORS', text: ({ actors }) => placesOf(actors), isFlexible: true },
  ])
  printNext(cli, 'berth charts KIND')
}

/** `3 live, 1 running.building` */
function placesOf(actors: MachineSummary['actors']): string {
  const places = Object.entries(actors).sort(([, a], [, b]) => b - a)
  return places.map(([state, count]) => `${count} ${state}`).join(', ')
}

async function showChart({ client, out }: Cli, kind: string): Promise<void> {
  const path = pathOf(kind)
  const [chart, charts, times] = await Promise.all([
    client.call<Machine>('GET', path),
    client.call<MachineSummary[]>('GET', '/machines'),
    client.call<MachineTimes>('GET', `${path}/times`),
  ])
  const actors = charts.find((one) => one.kind === kind)?.actors ?? {}
  const states = chart.states
    .filter(({ parent }) => parent !== null)
    .map((state) => ({ ...state, actors: actors[state.id] ?? 0, times: times[state.id] ?? null }))
  if (out.isJson) return out.json(states)
  printTable(out, states, [
    { heading: 'STATE', text: ({ id }) => id, style: ({ actors }) => (actors > 0 ? 'bold' : null) },
    { heading: 'ACTORS', text: ({ actors }) => (actors > 0 ? String(actors) : ''), isRight: true },
    { heading: 'MEDIAN', text: ({ times }) => (times ? duration(times.median_ms) : ''), isRight: true },
    { heading: 'P90', text: ({ times }) => (times ? duration(times.p90_ms) : ''), isRight: true },
    { heading: 'WHAT', text: ({ summary }) => summary ?? '', isFlexible: true, style: () => 'dim' },
  ])
}

async function printMermaid({ client, out }: Cli, kind: string): Promise<void> {
  const response = await client.open('GET', `${pathOf(kind)}.mmd`)
  const chart = response.body ? await text(response.body) : ''
  if (out.isJson) return out.json(chart)
  for (const line of chart.trimEnd().split('\n')) out.print(plain(line))
}

function pathOf(kind: string): string {
  return `/machines/${encodeURIComponent(kind)}`
}

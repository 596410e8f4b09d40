// The edge of the server: the running HAProxy, and its upgrade.
import type { Edge } from '../../../api/edge.ts'
import { count } from '../../../quantities.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { plain } from '../../terminal/output.ts'
import { showWork } from '../../terminal/phase-line.ts'
import { printTable } from '../../terminal/table.ts'

export function addEdgeCommands(program: BerthCommand): void {
  const edge = program
    .command('edge')
    .description('show the reverse proxy and its version')
    .examples('berth edge', 'berth edge --json')
    .runs(show)
  edge
    .command('upgrade')
    .option('--force', 'replace it even if nothing newer is available')
    .description('replace it with the newest HAProxy; no request fails')
    .examples('berth edge upgrade', 'berth edge upgrade --force')
    .runs(upgrade)
}

async function show(cli: Cli): Promise<void> {
  const { client, out } = cli
  const edge = await client.call<Edge>('GET', '/edge')
  if (out.isJson) return out.json(edge)
  const { status, mode, http_port, https_port, routes, error, available, upgrade_error } = edge
  const served =
    routes &&
    [count(routes.services, 'service'), count(routes.hosts, 'host'), count(routes.ready, 'instance')].join(
      ', ',
    )
  const facts = [
    ['STATUS', status],
    ['MODE', mode],
    ['PORTS', `${http_port}, ${https_port}`],
    ['HAPROXY', edge.version ?? 'unknown'],
    ['IMAGE', edge.image],
    ['AVAILABLE', available && describe(available)],
    ['SERVES', served],
    ['ERROR', error],
    ['UPGRADE FAILED', upgrade_error],
  ].flatMap(([name, value]) => (value ? [{ name: name!, value }] : []))
  printTable(out, facts, [
    { heading: 'EDGE', text: ({ name }) => name, style: () => 'bold' },
    { heading: '', text: ({ value }) => value, isFlexible: true },
  ])
  if (available) printNext(cli, 'berth edge upgrade')
}

async function upgrade(cli: Cli, { force = false }: { force?: boolean }): Promise<void> {
  const { client, out } = cli
  const before = await client.call<Edge>('GET', '/edge')
  const look = () => client.call<Edge>('GET', '/edge')
  const edge = await showWork<Edge>(cli, {
    name: 'upgrade',
    detail: () => 'the previous edge serves until the new one does',
    begin: () => client.call('POST', '/edge/upgrade', { body: { force } }).then(look),
    look,
    isUnderWay: ({ status }) => !['serving', 'waiting', 'off'].includes(status),
  })
  if (edge.status !== 'serving')
    throw new CliFailure(`the edge is ${edge.status}: ${plain(edge.error ?? '')}`)
  if (edge.upgrade_error !== null) {
    throw new CliFailure(`the edge was not upgraded: ${plain(edge.upgrade_error)}`, {
      hint: 'the previous one still serves: berth edge',
    })
  }
  if (out.isJson) return out.json(edge)
  if (edge.upgraded_at === before.upgraded_at) printDone(cli, `${describe(edge)} is the newest available`)
  else printDone(cli, `the edge now runs ${describe(edge)}`)
}

/** `HAProxy 2.6.12 (localhost/berth/edge:0a1b2c)` */
function describe({ version, image }: Pick<Edge, 'version' | 'image'>): string {
  return `HAProxy ${version ?? ''}${image ? ` (${image})` : ''}`
}

// What is wrong on the server, and from when on it is: `berth alerts`.
import type { Alert, AlertRule } from '../../../api/alert.ts'
import type { FeedChange } from '../../../api/feed.ts'
import { count } from '../../../quantities.ts'
import { maxPageSize } from '../../client/client.ts'
import { followEvents, parseEvent } from '../../client/event-stream.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { exitCodes, usageFailure } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { onOrOff, parseNumber, parsePositive } from '../../service/setting-flags.ts'
import { age } from '../../terminal/ages.ts'
import { plain, type Style } from '../../terminal/output.ts'
import { type Column, printList, printTable, tableLines } from '../../terminal/table.ts'

export function addAlertCommands(program: BerthCommand): void {
  const alerts = program
    .command('alerts')
    .argument('[name]', 'only this service or datastore')
    .description('list open alerts')
    .option('--all', 'list ended ones too')
    .option('-n, --limit <number>', 'so many of the newest (50)', parsePositive)
    .option('-f, --follow', 'follow what is raised, acknowledged and ends, until Ctrl-C')
    .examples('berth alerts', 'berth alerts shop --all', 'berth alerts -f')
    .runs(list)
  alerts
    .command('show')
    .argument('<id>', 'the alert')
    .description('show an alert')
    .examples('berth alerts show alr-01jexample', 'berth alerts show alr-01jexample --json')
    .runs(show)
  alerts
    .command('ack')
    .argument('<id>', 'the alert')
    .description('acknowledge an alert; what follows is counted and not reported')
    .examples('berth alerts ack alr-01jexample', 'berth alerts ack alr-01jexample --json')
    .runs(acknowledge)
  alerts
    .command('rules')
    .description('list the rules that raise alerts')
    .examples('berth alerts rules', 'berth alerts rules --json')
    .runs(listRules)
  alerts
    .command('set')
    .argument('<rule>', 'the rule, such as service_memory')
    .argument('[state]', 'on or off', onOrOff)
    .description('turn a rule on or off, or change its threshold')
    .option('--threshold <number>', 'from which value on', parseNumber)
    .option('--for <subject>', 'only for this service, datastore, domain or id')
    .option('--reset', 'as it was at first')
    .examples(
      'berth alerts set host_disk --threshold 95',
      'berth alerts set service_cpu off --for shop',
      'berth alerts set domain_unreachable on --for shop.example.com',
      'berth alerts set service_cpu --for shop --reset',
    )
    .runs(set)
}

const severityStyles: Record<Alert['severity'], Style> = { problem: 'red', warning: 'yellow', info: 'cyan' }

/** Padded, so that lines which follow are aligned. */
const columns: Column<Alert>[] = [
  { heading: 'ID', text: ({ id }) => id },
  {
    heading: 'SEVERITY',
    text: ({ severity }) => severity.padEnd(8),
    style: ({ severity, status }) => (status === 'recovered' ? 'dim' : severityStyles[severity]),
  },
  { heading: 'STATE', text: ({ status }) => status.padEnd(12) },
  { heading: 'COUNT', text: (alert) => String(alert.count), isRight: true },
  { heading: 'SINCE', text: ({ created_at }) => age(created_at).padEnd(7) },
  { heading: 'WHAT', text: ({ title }) => title, isFlexible: true },
]

async function list(
  cli: Cli,
  service: string | undefined,
  { all, limit = 50, follow }: { all?: boolean; limit?: number; follow?: boolean },
): Promise<number> {
  const { client, out } = cli
  const query = { service, limit, state: all ? 'all' : 'open' }
  const alerts = await client.call<Alert[]>('GET', '/alerts', { query })
  if (follow) await followAlerts(cli, service, alerts)
  else printList(out, alerts, all ? 'nothing was wrong yet' : 'nothing is wrong', columns)
  return cli.signal.aborted ? exitCodes.interrupted : exitCodes.ok
}

/** A line whenever the state of an alert changes; equal events that it counts are not shown one by one. */
async function followAlerts(cli: Cli, service: string | undefined, known: Alert[]): Promise<void> {
  const { client, out } = cli
  const states = new Map<string, string | null>()
  const show = (alerts: Alert[]) => {
    const firstLine = states.size === 0 ? 0 : 1
    const news = alerts.filter(({ id, status }) => states.get(id) !== status).toReversed()
    for (const { id, status } of news) states.set(id, status)
    if (out.isJson) for (const alert of news) out.json(alert)
    else if (news.length > 0)
      for (const line of tableLines(out, news, columns).slice(firstLine)) out.print(line)
  }
  if (known.length === 0) out.say('nothing is wrong')
  show(known)
  const query = { service, limit: maxPageSize, state: 'all' }
  for await (const { event, data } of followEvents(cli, '/events')) {
    const change = event === 'change' ? parseEvent<FeedChange>(data, ['kind']) : null
    if (change && (change.kind !== 'alert' || states.get(change.id) === change.status)) continue
    const alerts = await client.call<Alert[]>('GET', '/alerts', { query })
    show(alerts.filter((alert) => alert.status !== 'recovered' || states.has(alert.id)))
  }
}

const pathOf = (id: string) => `/alerts/${encodeURIComponent(id)}`

async function show(cli: Cli, id: string): Promise<void> {
  const { client, out } = cli
  const alert = await client.call<Alert>('GET', pathOf(id))
  if (out.isJson) return out.json(alert)
  const { severity, status, rule, created_at, last_at, acknowledged_by, recovered_at } = alert
  out.print(out.paint('bold', plain(alert.title)))
  const details = [...alert.body.split('\n'), alert.command ?? ''].filter((line) => line !== '')
  for (const line of details) out.print(`  ${plain(line)}`)
  const facts = [
    ['RULE', rule],
    ['SEVERITY', severity],
    ['STATE', acknowledged_by === null ? status : `${status}, acknowledged by ${acknowledged_by}`],
    ['RAISED', created_at],
    ['EVENTS', `${count(alert.count, 'event')}, the newest at ${last_at}`],
    ['RECOVERED', recovered_at],
  ].flatMap(([name, value]) => (value ? [{ name: name!, value }] : []))
  printTable(out, facts, [
    { heading: '', text: ({ name }) => name, style: () => 'dim' },
    { heading: '', text: ({ value }) => value, isFlexible: true },
  ])
  if (status === 'raised') printNext(cli, `berth alerts ack ${alert.id}`)
}

async function acknowledge(cli: Cli, id: string): Promise<void> {
  const alert = await cli.client.call<Alert>('POST', `${pathOf(id)}/acknowledge`)
  if (cli.out.isJson) cli.out.json(alert)
  else printDone(cli, `${alert.title}: acknowledged`)
}

async function listRules({ client, out }: Cli): Promise<void> {
  const rules = await client.call<AlertRule[]>('GET', '/alert-rules')
  printList(out, rules, 'this server has no rules', [
    { heading: 'RULE', text: ({ code }) => code, style: () => 'bold' },
    { heading: 'ON', text: stateOf, style: ({ enabled }) => (enabled ? null : 'dim') },
    { heading: 'RAISED WHEN', text: ({ when }) => when, isFlexible: true },
  ])
}

/** `90 %, shop: off` */
function stateOf({ unit, exceptions, ...general }: AlertRule): string {
  const text = ({ enabled, threshold }: Pick<AlertRule, 'enabled' | 'threshold'>) =>
    enabled ? (threshold === null ? 'on' : `${threshold} ${unit}`) : 'off'
  return [text(general), ...exceptions.map((one) => `${one.subject}: ${text(one)}`)].join(', ')
}

interface RuleOptions {
  threshold?: number
  for?: string
  reset?: boolean
}

async function set(
  cli: Cli,
  code: string,
  enabled: boolean | undefined,
  options: RuleOptions,
): Promise<void> {
  const { threshold, for: subject, reset } = options
  if (enabled === undefined && threshold === undefined && !reset)
    throw usageFailure('nothing to change', `berth alerts set ${code} off`)
  const body = { subject, threshold, reset, enabled }
  const rule = await cli.client.call<AlertRule>('PATCH', `/alert-rules/${encodeURIComponent(code)}`, { body })
  if (cli.out.isJson) cli.out.json(rule)
  else printDone(cli, `${rule.code}: ${stateOf(rule)}`)
}

/** A line about open alerts; null without any, and if they cannot be read. */
export async function openAlertsLine({ client }: Cli): Promise<string | null> {
  const query = { limit: maxPageSize }
  const open = await client.call<Alert[]>('GET', '/alerts', { query }).catch(() => [])
  const raised = open.filter(({ status }) => status !== 'acknowledged').length
  return open.length === 0 ? null : `${count(open.length, 'open alert')}, ${raised} not acknowledged`
}

// `berth status`: the running instances of a service, once or continuously.
import type { ServiceStatus, Traffic } from '../../api/status.ts'
import { sleep } from '../../async/sleep.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { CliFailure, exitCodes, interruption } from '../failure.ts'
import { printNext } from '../follow-up.ts'
import { readable, stateStyle } from '../service/labels.ts'
import { resolveService } from '../service/resolve-target.ts'
import { openAlerts } from '../service/trouble.ts'
import { age } from '../terminal/ages.ts'
import { type Output, plain } from '../terminal/output.ts'
import { type Column, tableLines } from '../terminal/table.ts'
import { openAlertsLine } from './server/alerts.ts'
import { heldLine } from './server/servers.ts'

type Instance = ServiceStatus['instances'][number]

const pollMs = 2000

export function addStatusCommands(program: BerthCommand): void {
  program
    .command('status')
    .argument('[name]', 'the service')
    .description('show the current instances of a service')
    .option('-w, --watch', 'refresh until Ctrl-C')
    .examples('berth status shop', 'berth status shop --watch')
    .runs(showStatus)
}

async function showStatus(cli: Cli, name: string | undefined, options: { watch?: boolean }): Promise<void> {
  const { client, out } = cli
  const chosen = await resolveService(cli, name)
  const look = () => client.call<ServiceStatus>('GET', `${servicePath(chosen)}/status`)
  if (options.watch) return watch(cli, chosen, look)
  const status = await look()
  if (out.isJson) return out.json(status)
  for (const line of await statusLines(out, chosen, status)) out.print(line)
  // Only a cron job is live without instances.
  const isIdle = status.state === 'live' && status.desired_instances === 0
  if (isIdle) printNext(cli, `berth schedule ${chosen}`)
  for (const line of await openAlerts(cli, chosen)) out.print(line)
  const [held, alerts] = await Promise.all([heldLine(cli), openAlertsLine(cli)])
  if (held !== null) out.print(`  ${out.paint('red', plain(held))}`)
  if (alerts !== null) {
    out.print(`  ${out.paint('yellow', plain(alerts))}`)
    printNext(cli, 'berth alerts')
  }
}

/** Runs until Ctrl-C. After the first successful response, waits for an unavailable server to return. */
async function watch(cli: Cli, name: string, look: () => Promise<ServiceStatus>): Promise<never> {
  const { out, signal } = cli
  let last: ServiceStatus | null = null
  let isUnavailable = false
  while (!signal.aborted) {
    const status: ServiceStatus | null = await look().catch((error: unknown) => {
      if (signal.aborted || (last && isTransient(error))) return null
      throw error
    })
    if (status) await showChange(out, name, last, status)
    else if (!isUnavailable && !signal.aborted) out.say('the server does not respond; retrying')
    isUnavailable = status === null
    last = status ?? last
    await sleep(pollMs, signal).catch(() => null)
  }
  out.rest()
  if (last && isDrawn(out)) for (const line of await statusLines(out, name, last)) out.print(line)
  throw interruption()
}

/** Redraws the status on a live terminal. Otherwise prints the status only when it has changed. */
async function showChange(out: Output, name: string, last: ServiceStatus | null, status: ServiceStatus) {
  const lines = await statusLines(out, name, status)
  if (isDrawn(out)) return out.animate((spinner) => [...lines, '', out.tint('dim', `${spinner} Ctrl-C ends`)])
  if (last && comparableState(last) === comparableState(status)) return
  if (out.isJson) out.json(status)
  else for (const line of lines) out.print(line)
}

function isDrawn(out: Output): boolean {
  return out.isLive && out.isTerminal && !out.isJson
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof CliFailure)) return false
  return error.exitCode === exitCodes.unreachable || error.exitCode === exitCodes.failed
}

/** Without the usage and the traffic, which change constantly. */
function comparableState({ instances, traffic: _, ...status }: ServiceStatus): string {
  const facts = instances.map(({ cpu_percent: _cpu, memory_bytes: _memory, ...instance }) => instance)
  return JSON.stringify({ ...status, instances: facts })
}

async function statusLines(out: Output, name: string, status: ServiceStatus): Promise<string[]> {
  const { instances, desired_instances: desired, reason } = status
  const style = stateStyle(status.state)
  const state = plain(readable(status.state))
  const shortage = desired === instances.length ? '' : plain(`, ${count(desired, 'instance')} wanted`)
  const heading = `${out.paint('bold', plain(name))} is ${style ? out.paint(style, state) : state}${shortage}`
  return [
    heading,
    ...(reason ? [`  ${out.paint('yellow', plain(reason))}`] : []),
    ...(status.traffic ? [`  ${trafficText(status.traffic)}`] : []),
    ...(instances.length > 0 ? ['', ...tableLines(out, instances, columns)] : []),
  ]
}

/** `1,204 requests in 5 min, 3 errors, p50 12 ms, p95 80 ms, p99 140 ms` */
function trafficText({ window_seconds, requests, errors, ...latency }: Traffic): string {
  const heading = `${count(requests, 'request')} in ${Math.round(window_seconds / 60)} min`
  const { p50_ms, p95_ms, p99_ms } = latency
  const parts = Object.entries({ p50: p50_ms, p95: p95_ms, p99: p99_ms })
  const times = parts.filter(([, ms]) => ms !== null).map(([name, ms]) => `${name} ${ms} ms`)
  return plain([heading, ...(errors > 0 ? [count(errors, 'error')] : []), ...times].join(', '))
}

const columns: Column<Instance>[] = [
  { heading: 'DEPLOY', text: ({ deploy_id }) => deploy_id, isFlexible: true, keepsEnd: true },
  {
    heading: 'ROLE',
    text: ({ role }) => role ?? 'unknown',
    style: ({ role }) => (role === 'live' ? 'green' : null),
  },
  { heading: 'STATE', text: stateOf, style: ({ state }) => (state === 'running' ? null : 'red') },
  { heading: 'ADDRESS', text: ({ address }) => address ?? '' },
  {
    heading: 'CPU',
    text: ({ cpu_percent: cpu }) => (cpu === null ? '' : `${cpu.toFixed(1)}%`),
    isRight: true,
  },
  { heading: 'MEMORY', text: memoryOf, isRight: true },
  { heading: 'STARTED', text: ({ started_at }) => age(started_at) },
]

/** `running`, `running, healthy`, `exited (1), out of memory, 3 restarts` */
function stateOf({ state, exit_code, oom_killed, restart_count, health }: Instance): string {
  const code = state !== 'running' && exit_code !== null ? ` (${exit_code})` : ''
  const restarts = restart_count > 0 ? `, ${count(restart_count, 'restart')}` : ''
  const checked = health === null || health === undefined ? '' : `, ${health}`
  return `${state}${code}${checked}${oom_killed ? ', out of memory' : ''}${restarts}`
}

function memoryOf({ memory_bytes, memory_limit_bytes }: Instance): string {
  if (memory_bytes === null) return ''
  return `${mebibytes(memory_bytes)}${memory_limit_bytes ? `/${mebibytes(memory_limit_bytes)}` : ''} MiB`
}

function mebibytes(bytes: number): string {
  const amount = bytes / 1024 ** 2
  return amount < 10 ? amount.toFixed(1) : String(Math.round(amount))
}

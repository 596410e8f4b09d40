// `berth logs`: output, requests or a record's log. It waits for a slow reader: a log may exceed the memory.
import { once } from 'node:events'
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { deployPath, jobPath, servicePath } from '../client/client.ts'
import { followEvents, type LogLine, parseLogLine, type StreamEvent } from '../client/event-stream.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { exitCodes, usageFailure } from '../failure.ts'
import { noRunsNotice, runSummary } from '../job/labels.ts'
import { resolveService } from '../service/resolve-target.ts'
import { parseWholeNumber } from '../service/setting-flags.ts'
import { coloured, type Output, plain, type Style } from '../terminal/output.ts'

interface LogsOptions {
  deploy?: string
  job?: string
  access?: boolean
  follow?: boolean
  tail?: number
  timestamps?: boolean
}

interface Format {
  time: 'none' | 'short' | 'whole'
  showsInstance: boolean
}

export function addLogCommands(program: BerthCommand): void {
  program
    .command('logs')
    .argument('[name]', 'the service')
    .description('show the output of instances; or the log of a deploy or job run, or the requests')
    .option('--access', 'the requests and their responses')
    .option('--deploy <id>', 'the log of this deploy instead')
    .option('--job <id>', 'the log of this job run instead')
    .option('-f, --follow', 'follow new lines; a deploy or job run until it ends')
    .option('-n, --tail <number>', 'start with this many of the last lines (100)', parseWholeNumber)
    .option('--timestamps', 'full timestamps; a terminal shows short ones by default')
    .examples(
      'berth logs shop -f',
      'berth logs shop --tail 1000 --timestamps',
      'berth logs shop --access -f',
      'berth logs --deploy dep-01k5yq0v3nhx8m2r7c9d4f6gbt -f',
      'berth logs --job job-01k5yq0v3nhx8m2r7c9d4f6gbt -f',
      'berth logs nightly                # the newest run of a cron job',
    )
    .runs(showLogs)
}

async function showLogs(cli: Cli, name: string | undefined, options: LogsOptions): Promise<number> {
  const path = recordPathOf(name, options)
  await (path === null
    ? showServiceLogs(cli, await resolveService(cli, name), options)
    : showLog(cli, path, options))
  // Ctrl-C is the normal end of a followed log, so no message is printed.
  return cli.signal.aborted ? exitCodes.interrupted : exitCodes.ok
}

/** The path of the log of the selected deploy or run; null for a service. Throws (usage) for both. */
function recordPathOf(name: string | undefined, { deploy, job, access, tail }: LogsOptions): string | null {
  if (deploy === undefined && job === undefined) return null
  if (name !== undefined || (deploy !== undefined && job !== undefined)) {
    throw usageFailure('the logs of a service, of a deploy, or of a job run?', 'choose one of them')
  }
  assertIdOf('deploy', deploy)
  assertIdOf('job', job)
  if (access) throw usageFailure('--access is for the logs of a service', 'remove it')
  if (tail !== undefined) throw usageFailure('--tail is for the logs of a service', 'remove it')
  return deploy === undefined ? jobPath(job!) : deployPath(deploy)
}

/** Without this check, the name of a service in place of an id finds nothing and explains nothing. */
function assertIdOf(noun: 'deploy' | 'job', id: string | undefined): void {
  const prefix = noun === 'deploy' ? 'dep-' : 'job-'
  if (id === undefined || id.startsWith(prefix)) return
  throw usageFailure(
    `--${noun} is '${id}': it must be an id such as ${prefix}…`,
    `berth ${noun}s NAME lists them`,
  )
}

async function showLog(cli: Cli, path: string, options: LogsOptions): Promise<void> {
  const { follow = false } = options
  const events = followEvents(cli, `${path}/logs`, { query: { follow }, existingOnly: !follow })
  await printLines(cli, events, { time: timeOf(cli.out, options), showsInstance: false })
}

async function showServiceLogs(cli: Cli, name: string, options: LogsOptions): Promise<void> {
  const { follow = false, tail, access } = options
  const path = servicePath(name)
  const service = await cli.client.call<Service>('GET', path)
  if (service.type === 'cron_job' && !access) return showNewestRun(cli, service, options)
  const events = followEvents(cli, `${path}/logs`, { query: { follow, tail, access } })
  const format = { time: timeOf(cli.out, options), showsInstance: !access && service.instances > 1 }
  const lines = await printLines(cli, events, format)
  if (lines > 0 || follow || tail === 0) return
  cli.out.say(access ? `${name} has had no requests` : `the instances of ${name} have written nothing`)
}

/** The only output of a cron job is that of its runs. */
async function showNewestRun(cli: Cli, service: Service, options: LogsOptions): Promise<void> {
  const { id, name, timezone } = service
  if (options.tail !== undefined) {
    throw usageFailure(`${plain(name)} is a cron job: run logs are always shown in full`, 'remove --tail')
  }
  const query = { limit: 1 }
  const [newest] = await cli.client.call<JobRun[]>('GET', `${servicePath(id)}/jobs`, { query })
  if (!newest) return cli.out.say(noRunsNotice(service))
  if (!cli.out.isJson) cli.out.say(cli.out.tint('dim', ` ${plain(runSummary(newest, timezone ?? 'UTC'))}`))
  await showLog(cli, jobPath(newest.id), options)
}

function timeOf(out: Output, { timestamps }: LogsOptions): Format['time'] {
  if (timestamps) return 'whole'
  return out.isTerminal ? 'short' : 'none'
}

async function printLines(
  { out, stdout }: Cli,
  events: AsyncGenerator<StreamEvent>,
  format: Format,
): Promise<number> {
  let count = 0
  for await (const { data } of events) {
    const line = parseLogLine(data)
    if (out.isJson) out.json(line)
    else out.print(formatLine(out, line, format))
    count += 1
    if (stdout.writableNeedDrain) await once(stdout, 'drain')
  }
  return count
}

function formatLine(out: Output, logLine: LogLine, { time, showsInstance }: Format): string {
  const { ts, stream, line, instance, access } = logLine
  const text = access ? requestText(out, line, access.status) : out.isColoured ? coloured(line) : plain(line)
  const clock = time === 'short' ? localTime(ts) : plain(ts)
  const stamp = time === 'none' ? '' : `${out.paint('dim', clock)} `
  // System lines contain the name of their instance.
  const isWritten = instance !== undefined && stream !== 'system'
  const writer = showsInstance && isWritten ? `${out.paint('cyan', plain(instance))} ` : ''
  return `${stamp}${writer}${text}`
}

/** Clients control much of the line, so only Berth's own colours are printed. */
function requestText(out: Output, line: string, status: number): string {
  const style = statusStyles[Math.floor(status / 100)]
  return style ? out.paint(style, plain(line)) : plain(line)
}

const statusStyles: Record<number, Style> = { 2: 'green', 3: 'cyan', 4: 'yellow', 5: 'red' }

/** `12:04:08` */
function localTime(ts: string): string {
  return new Date(ts).toTimeString().slice(0, 8)
}

// `berth schedule`: the next runs, the last one, and skipped ones, in the time zone of the schedule.
import type { Schedule } from '../../api/schedule.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { clockTime, dayAndTime } from '../job/instants.ts'
import { runStyle, runSummary } from '../job/labels.ts'
import { resolveService } from '../service/resolve-target.ts'
import { age, span } from '../terminal/ages.ts'
import { type Fact, printFacts } from '../terminal/table.ts'

const overlaps: Record<string, string> = {
  skip: 'is skipped',
  queue: 'waits for its turn',
  replace: 'cancels the active run',
}

export function addScheduleCommands(program: BerthCommand): void {
  program
    .command('schedule')
    .argument('[name]', 'a cron job')
    .description('show the next and the last run of a cron job')
    .examples('berth schedule nightly', 'berth schedule nightly --json')
    .runs(showSchedule)
}

async function showSchedule(cli: Cli, name: string | undefined): Promise<void> {
  const { client, out } = cli
  const service = await resolveService(cli, name)
  const schedule = await client.call<Schedule>('GET', `${servicePath(service)}/schedule`)
  if (out.isJson) return out.json(schedule)
  printSchedule(cli, service, schedule)
}

function printSchedule({ out }: Cli, name: string, reported: Schedule): void {
  const { schedule, overlap, timezone } = reported
  printFacts(out, [
    ['name', name, 'bold'],
    ['schedule', schedule],
    ['time zone', `${timezone}, now ${clockTime(new Date().toISOString(), timezone)}`],
    ['overlap', `${overlap}: a run that is due during another run ${overlaps[overlap] ?? ''}`],
    ...nextFacts(name, reported),
    ...lastFacts(reported),
  ])
}

function nextFacts(name: string, { status, error, next, timezone }: Schedule): Fact[] {
  if (status === 'suspended')
    return [['next', `none: it is suspended; to resume it: berth resume ${name}`, 'yellow']]
  if (status === 'not_deployed') {
    return [
      [
        'next',
        `none: it is not deployed yet; to deploy it: berth deploy ${name} or berth up ${name}`,
        'yellow',
      ],
    ]
  }
  if (status === 'deleting') return [['next', 'none: its service is being deleted', 'yellow']]
  if (status === 'failed') return [['next', `none: ${error ?? 'it has failed'}`, 'red']]
  const columns = Math.max(...next.map((at) => dayAndTime(at, timezone).length))
  return next.map((at, index) => {
    const untilThen = span((Date.parse(at) - Date.now()) / 1000)
    return [index === 0 ? 'next' : '', `${dayAndTime(at, timezone).padEnd(columns)}  in ${untilThen}`]
  })
}

function lastFacts({ last_run: run, last_skip: skip, timezone }: Schedule): Fact[] {
  return [
    ['last run', run ? runSummary(run, timezone) : 'none yet', run ? runStyle(run) : 'dim'],
    ['its error', run?.error],
    ['its log', run && `berth logs --job ${run.id}`],
    ['last skipped', skip && `${dayAndTime(skip.scheduled_for, timezone)}, ${age(skip.scheduled_for)}`],
    ['why', skip?.reason],
  ]
}

// Job runs in containers like that of the live deploy. Words after `--` are the command's, not Berth's.
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'
import { fetchNewest, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { exitCodes, usageFailure } from '../failure.ts'
import { printNext } from '../follow-up.ts'
import { commandOf, noRunsNotice, outcomeOf, runDuration, runStyle, startedBy } from '../job/labels.ts'
import { splitArguments, toShellCommand } from '../service/command-words.ts'
import { resolveService } from '../service/resolve-target.ts'
import { parseSeconds, parseWholeNumber } from '../service/setting-flags.ts'
import { span } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'
import { onUnusedInput } from '../terminal/standard-input.ts'
import { printTable } from '../terminal/table.ts'

interface RunOptions {
  timeout?: number
  /** Undefined if neither --follow nor --no-follow is given. */
  follow?: boolean
}

export function addJobCommands(program: BerthCommand): void {
  program
    .command('run')
    .argument('[name]', 'the service')
    .argument('[command...]', 'after --: one word for the shell, or a program with its arguments')
    .description('run a command in a new container; it gets no stdin, and its exit code is passed on')
    .option(
      '--timeout <seconds>',
      'stop it after this time (by default the setting of the service: a day)',
      parseSeconds,
    )
    .option('--follow', 'follow the output until the run ends (the default)')
    .option('--no-follow', 'only start it')
    .examples(
      'berth run shop -- npm run migrate',
      "berth run shop -- 'pg_dump $DATABASE_URL | gzip' > shop.sql.gz",
      'berth run nightly                 # what a cron job runs, now',
      'berth run shop --timeout 600 --no-follow -- ./import.sh',
    )
    .runs(runCommand)
  program
    .command('jobs')
    .argument('[name]', 'the service')
    .description('list the job runs of a service, newest first')
    .option('--limit <number>', 'how many', parseWholeNumber, 20)
    .examples('berth jobs nightly', 'berth jobs shop --limit 100 --json')
    .runs(listRuns)
}

async function runCommand(
  cli: Cli,
  first: string | undefined,
  others: string[],
  options: RunOptions,
): Promise<number> {
  const { name, words } = splitArguments(cli, 'run', [first, ...others])
  const service = requireServiceName(cli, name)
  if (cli.flags.tokenFile !== '-') onUnusedInput(cli, () => reportUnusedInput(cli))
  const started = await startRun(cli, service, words, options)
  if (options.follow === false) return leaveRun(cli, started)
  const { concludeRun, followRun } = await import('../job/follow.ts')
  return concludeRun(cli, await followRun(cli, started))
}

function reportUnusedInput({ out }: Cli): void {
  const mark = out.tint('yellow', '!')
  out.say(` ${mark} the command does not get the piped input: stdin is not forwarded`)
}

async function startRun({ client }: Cli, service: string, words: string[], { timeout }: RunOptions) {
  const command = toShellCommand(words)
  // An empty variable of a script must not start the command of a cron job.
  if (words.length > 0 && command.trim() === '') throw usageFailure('the command is empty')
  const body = {
    ...(words.length > 0 ? { command } : {}),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout }),
  }
  return client.call<JobRun>('POST', `${servicePath(service)}/jobs`, { body })
}

function leaveRun(cli: Cli, run: JobRun): number {
  if (cli.out.isJson) cli.out.json(run)
  else cli.out.print(plain(run.id))
  printNext(cli, `berth logs --job ${run.id} -f`)
  return exitCodes.ok
}

async function listRuns(cli: Cli, name: string | undefined, { limit }: { limit: number }): Promise<void> {
  const { client, out } = cli
  const path = servicePath(await resolveService(cli, name))
  const runs = await fetchNewest<JobRun>(client, `${path}/jobs`, limit)
  if (out.isJson) return out.json(runs)
  const service = await client.call<Service>('GET', path)
  if (runs.length === 0) return out.say(noRunsNotice(service))
  const timeZone = service.timezone ?? 'UTC'
  printTable(out, runs, [
    { heading: 'RUN', text: ({ id }) => id },
    { heading: 'STATUS', text: outcomeOf, style: runStyle },
    { heading: 'BY', text: (run) => startedBy(run, timeZone) },
    { heading: 'TOOK', text: runDuration, isRight: true },
    { heading: 'AGE', text: ageOf, isRight: true },
    { heading: 'COMMAND', text: commandOf, isFlexible: true },
  ])
}

function ageOf({ created_at }: JobRun): string {
  return span((Date.now() - Date.parse(created_at)) / 1000)
}

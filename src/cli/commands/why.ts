// `berth why`: what became of a deploy: where the time went, the step that failed, its last words, what next.
import type { Command } from 'commander'
import type { Deploy } from '../../http/schemas/deploy.ts'
import type { Info } from '../../http/schemas/info.ts'
import type { Service } from '../../http/schemas/service.ts'
import { byWords } from '../by.ts'
import { servicePath } from '../client.ts'
import type { Runner } from '../command.ts'
import { chosenDeploy } from '../deploy/chosen.ts'
import { type Diagnosis, diagnose, type PhaseTime } from '../deploy/diagnosis.ts'
import { hintFor } from '../deploy/hints.ts'
import { deployStyle, originOf } from '../deploy/words.ts'
import { examples } from '../examples.ts'
import { CliFailure } from '../failure.ts'
import type { Cli } from '../session.ts'
import { age } from '../terminal/ages.ts'
import { clip } from '../terminal/clip.ts'
import { type Output, plain } from '../terminal/output.ts'
import { paragraph } from '../terminal/phase-line.ts'
import { duration } from '../terminal/quantities.ts'

const nameColumns = 13
const clockColumns = 8
const barColumns = 30

export function addWhyCommands(program: Command, run: Runner): void {
  program
    .command('why')
    .argument('[deploy]', 'a deploy, or a service whose newest one is meant')
    .description('why a deploy failed, or what took so long')
    .addHelpText('after', examples('berth why', 'berth why shop', 'berth why dep-01k5yq0v3nhx8m2r7c9d4f6gbt'))
    .action(run(explain))
}

async function explain(cli: Cli, idOrName: string | undefined): Promise<void> {
  const { client, out } = cli
  const deploy = await chosenDeploy(cli, idOrName)
  const service = await client.call<Service>('GET', servicePath(deploy.service_id))
  const diagnosis = await diagnose(cli, deploy)
  const hint = isTrouble(deploy) ? hintFor(deploy, service) : null
  const hangsSince = isUnderWay(deploy) ? await builderHangsSince(cli) : null
  if (out.isJson) return out.json(toJson(deploy, diagnosis, hint, hangsSince))
  printHeading(out, deploy, service)
  printPhases(out, diagnosis.phases)
  if (hangsSince) out.print(out.paint('red', `\n ${plain(hangingBuilder(hangsSince))}`))
  if (isTrouble(deploy)) printTrouble(out, deploy, diagnosis, hint)
  else if (service.type === 'cron_job') {
    out.print(out.paint('dim', `\n its runs: berth jobs ${plain(service.name)}`))
  }
}

function isTrouble({ status }: Deploy): boolean {
  return status === 'failed' || status === 'canceled'
}

function isUnderWay({ status }: Deploy): boolean {
  return status === 'queued' || status === 'running'
}

/** Null while it works; for an older server and a token of some services, which are not told, too. */
async function builderHangsSince({ client }: Cli): Promise<string | null> {
  try {
    const { builds } = await client.call<Info>('GET', '/info')
    return builds?.hangs_since ?? null
  } catch (error) {
    if (error instanceof CliFailure) return null
    throw error
  }
}

function hangingBuilder(since: string): string {
  return `the Docker engine's BuildKit hangs since ${since}: only the classic builder builds`
}

function toJson(
  deploy: Deploy,
  { phases, failedStep, errorLine, lines }: Diagnosis,
  hint: string | null,
  hangsSince: string | null,
) {
  return {
    deploy,
    phases: phases.map(({ name, durationMs, hasFailed }) => ({
      name,
      duration_ms: durationMs,
      failed: hasFailed,
    })),
    failed_step: isTrouble(deploy) ? failedStep : null,
    error_line: isTrouble(deploy) ? errorLine : null,
    lines: isTrouble(deploy) ? lines : [],
    hint,
    builder_hangs_since: hangsSince,
  }
}

/** ` shop failed while building, 2m ago` */
function printHeading(out: Output, deploy: Deploy, { name }: Service): void {
  const { status, phase, created_at, finished_at } = deploy
  const verb = { queued: 'is queued', running: 'is', live: 'is live', deactivated: 'was live' }
  const words = isTrouble(deploy)
    ? `${status === 'failed' ? 'failed' : 'was canceled'} while ${phase ?? 'queued'}`
    : `${verb[status as keyof typeof verb]}${status === 'running' && phase ? ` ${phase}` : ''}`
  const when = age(finished_at ?? created_at)
  out.print(` ${out.paint('bold', plain(name))} ${out.paint(deployStyle(deploy), plain(words))}, ${when}`)
  const by = byWords(deploy.by)
  const origin = `${deploy.id}, ${originOf(deploy)}${by && `, by ${by}`}`
  out.print(out.paint('dim', ` ${plain(origin)}`))
}

function printPhases(out: Output, phases: PhaseTime[]): void {
  const longestMs = Math.max(1, ...phases.map(({ durationMs }) => durationMs))
  out.print()
  for (const { name, durationMs, hasFailed } of phases) {
    const mark = hasFailed ? out.paint('red', '✘') : out.paint('green', '✔')
    const clock = duration(durationMs).padStart(clockColumns)
    const bar = '━'.repeat(Math.max(1, Math.round((durationMs / longestMs) * barColumns)))
    const shownBar = out.isTerminal ? `  ${out.paint(hasFailed ? 'red' : 'cyan', bar)}` : ''
    out.print(` ${mark} ${plain(name).padEnd(nameColumns)}${out.paint('dim', clock)}${shownBar}`)
  }
}

function printTrouble(
  out: Output,
  deploy: Deploy,
  { failedStep, errorLine, lines }: Diagnosis,
  hint: string | null,
): void {
  out.print()
  if (failedStep)
    out.print(` ${out.isTerminal ? clip(plain(failedStep), out.width() - 2) : plain(failedStep)}`)
  const shown = errorLine === null ? lines : [errorLine, '…', ...lines]
  for (const line of shown) out.print(windowLine(out, line))
  if (failedStep || lines.length > 0) out.print()
  const room = out.isTerminal ? out.width() : Number.POSITIVE_INFINITY
  for (const line of paragraph(deploy.error ?? 'it says no reason', ' ', room))
    out.print(out.paint('red', line))
  if (hint) for (const line of paragraph(hint, ' ', room)) out.print(out.paint('dim', line))
}

function windowLine(out: Output, text: string): string {
  const said = out.isTerminal ? clip(plain(text), out.width() - 5) : plain(text)
  return out.paint('dim', `   │ ${said}`)
}

// `berth why`: explains the outcome of a deploy or another record: the failure, the next step, the phases.
import type { Deploy } from '../../api/deploy.ts'
import type { JobRun } from '../../api/job.ts'
import type { Why } from '../../api/parts/failure.ts'
import type { Service } from '../../api/service.ts'
import { duration } from '../../quantities.ts'
import { deployPath, fetchWhy, jobPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { deployStyle, originOf, requesterName, warningLines } from '../deploy/labels.ts'
import { CliFailure } from '../failure.ts'
import { resolveDeploy } from '../service/resolve-target.ts'
import { instanceTrouble, openAlerts } from '../service/trouble.ts'
import { age } from '../terminal/ages.ts'
import { type Output, plain } from '../terminal/output.ts'
import { clip, paragraph } from '../terminal/phase-line.ts'

const nameColumns = 13
const clockColumns = 8
const barColumns = 30

export function addWhyCommands(program: BerthCommand): void {
  program
    .command('why')
    .argument('[id]', 'a service or datastore, or the id of a deploy, job run, backup, …')
    .description('explain why something failed, or what took so long')
    .examples('berth why', 'berth why shop', 'berth why job-01k5yq0v3nhx8m2r7c9d4f6gbt')
    .runs(explain)
}

const collections: Record<string, string> = {
  job: '/jobs',
  dst: '/datastores',
  bak: '/backups',
  rst: '/restores',
  crt: '/certificates',
}

async function explain(cli: Cli, idOrName: string | undefined): Promise<void> {
  const [, collection] = /^([a-z]{3})-[0-9a-z]{26}$/.exec(idOrName ?? '') ?? []
  const path = collections[collection ?? '']
  if (path) return printWhy(cli, await fetchWhy(cli, `${path}/${idOrName}`))
  try {
    await explainDeploy(cli, idOrName)
  } catch (error) {
    const isUnknown = error instanceof CliFailure && error.code === 'not_found'
    if (!isUnknown || idOrName === undefined) throw error
    // Services and datastores share a namespace.
    const why = await fetchWhy(cli, `/datastores/${encodeURIComponent(idOrName)}`).catch(() => null)
    if (why === null) throw error
    printWhy(cli, why)
  }
}

function printWhy({ out }: Cli, why: Why): void {
  if (out.isJson) {
    out.json(why)
    return
  }
  const state = `${why.status}${why.phase === null ? '' : `, ${why.phase}`}`
  out.print(` ${out.paint('bold', plain(why.id))} ${plain(state)}`)
  printPhases(out, why)
  if (why.reason !== null) printProblem(out, why)
}

async function explainDeploy(cli: Cli, idOrName: string | undefined): Promise<void> {
  const { client, out } = cli
  const deploy = await resolveDeploy(cli, idOrName)
  const service = await client.call<Service>('GET', servicePath(deploy.service_id))
  const failedRun = deploy.id === idOrName ? null : await newestFailedRun(cli, service, deploy)
  if (failedRun) {
    if (!out.isJson) out.print(` the newest run of ${out.paint('bold', plain(service.name))} failed`)
    return printWhy(cli, await fetchWhy(cli, jobPath(failedRun.id)))
  }
  const why = await fetchWhy(cli, deployPath(deploy.id))
  if (out.isJson) return out.json(toJson(deploy, why))
  printHeading(out, deploy, service)
  printPhases(out, why)
  for (const line of warningLines(out.paint, service.name, deploy)) out.print(line)
  if (isServing(service, deploy)) {
    const [instances, alerts] = [instanceTrouble(cli, service.name), openAlerts(cli, service.name)]
    for (const line of (await Promise.all([instances, alerts])).flat()) out.print(line)
  }
  if (isFailure(deploy)) printProblem(out, why)
  else if (service.type === 'cron_job') {
    out.print(out.paint('dim', `\n its runs: berth jobs ${plain(service.name)}`))
  }
}

/** A cron job that is deployed fails in its runs. Null if its deploy, or none of the two, failed. */
async function newestFailedRun({ client }: Cli, { id, type }: Service, deploy: Deploy) {
  if (type !== 'cron_job' || isFailure(deploy)) return null
  const [newest] = await client.call<JobRun[]>('GET', `${servicePath(id)}/jobs`, { query: { limit: 1 } })
  return newest?.status === 'failed' ? newest : null
}

function isFailure({ status }: Deploy): boolean {
  return status === 'failed' || status === 'canceled'
}

function isServing({ live_deploy_id }: Service, { id }: Deploy): boolean {
  return live_deploy_id === id
}

function toJson(deploy: Deploy, { phases, failed_step, error_line, lines, hint, commands }: Why) {
  return { deploy, phases, failed_step, error_line, lines, hint, commands }
}

/** ` shop failed while building, 2m ago` */
function printHeading(out: Output, deploy: Deploy, service: Service): void {
  const { name } = service
  const isDegraded = isServing(service, deploy) && service.state === 'degraded'
  const { status, phase, created_at, finished_at } = deploy
  const live = isDegraded ? 'is degraded' : 'is live'
  const verb = { queued: 'is queued', running: 'is', live, deactivated: 'was live' }
  const text = isFailure(deploy)
    ? `${status === 'failed' ? 'failed' : 'was canceled'} while ${phase ?? 'queued'}`
    : `${verb[status as keyof typeof verb]}${status === 'running' && phase ? ` ${phase}` : ''}`
  const when = age(finished_at ?? created_at)
  const shown = out.paint(isDegraded ? 'yellow' : deployStyle(deploy), plain(text))
  out.print(` ${out.paint('bold', plain(name))} ${shown}, ${when}`)
  const by = requesterName(deploy.by)
  const origin = `${deploy.id}, ${originOf(deploy)}${by && `, by ${by}`}`
  out.print(out.paint('dim', ` ${plain(origin)}`))
}

function printPhases(out: Output, { phases, phase }: Why): void {
  const longestMs = Math.max(1, ...phases.map(({ duration_ms }) => duration_ms))
  out.print()
  for (const { name, duration_ms: durationMs, failed } of phases) {
    const done = name === phase ? '·' : out.paint('green', '✔')
    const mark = failed ? out.paint('red', '✘') : done
    const clock = duration(durationMs).padStart(clockColumns)
    const bar = '━'.repeat(Math.max(1, Math.round((durationMs / longestMs) * barColumns)))
    const shownBar = out.isTerminal ? `  ${out.paint(failed ? 'red' : 'cyan', bar)}` : ''
    out.print(` ${mark} ${plain(name).padEnd(nameColumns)}${out.paint('dim', clock)}${shownBar}`)
  }
}

function printProblem(out: Output, { reason, failed_step: step, error_line, lines, hint }: Why): void {
  out.print()
  if (step) out.print(` ${out.isTerminal ? clip(plain(step), out.width() - 2) : plain(step)}`)
  const excerpt = error_line === null ? lines : [error_line, '…', ...lines]
  for (const line of excerpt) out.print(windowLine(out, line))
  if (step || lines.length > 0) out.print()
  const room = out.isTerminal ? out.width() : Number.POSITIVE_INFINITY
  for (const line of paragraph(reason ?? 'no reason available', ' ', room)) out.print(out.paint('red', line))
  if (hint) for (const line of paragraph(hint, ' ', room)) out.print(out.paint('dim', line))
}

function windowLine(out: Output, text: string): string {
  const clipped = out.isTerminal ? clip(plain(text), out.width() - 5) : plain(text)
  return out.paint('dim', `   │ ${clipped}`)
}

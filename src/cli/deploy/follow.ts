// Follows a deploy to its outcome. It runs on the server: to stop following does not stop it.
import type { Deploy } from '../../api/deploy.ts'
import type { Why } from '../../api/parts/failure.ts'
import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { duration } from '../../quantities.ts'
import { deployPath, fetchWhy, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { exitCodes, interruption } from '../failure.ts'
import { addressOf as reachedAt } from '../service/labels.ts'
import { plain } from '../terminal/output.ts'
import { nextStep, paragraph, phaseLine } from '../terminal/phase-line.ts'
import { type DeployState, fetchStates, watchDeploy } from './deploy-events.ts'
import { warningLines } from './labels.ts'
import { createDeployView } from './view.ts'

const maxDeploysSearched = 50

/** Shows a deploy until it ends; --json prints its log lines as the API returns them. Ctrl-C throws (130). */
export async function followDeploy(cli: Cli, deployId: string): Promise<Deploy> {
  const { client, out, signal } = cli
  try {
    await (out.isJson ? printLog(cli, deployId) : showDeploy(cli, deployId))
    return await client.call<Deploy>('GET', deployPath(deployId))
  } catch (error) {
    throw signal.aborted ? deployContinues(deployId) : error
  } finally {
    out.rest()
  }
}

async function showDeploy(cli: Cli, deployId: string): Promise<void> {
  const { events, now } = watchDeploy(cli, deployId)
  const view = createDeployView(cli.out, now)
  for await (const event of events) {
    if ('line' in event) view.addLine(event.line)
    else view.enter(event.state)
  }
}

async function printLog(cli: Cli, deployId: string): Promise<void> {
  for await (const event of watchDeploy(cli, deployId).events) {
    if ('line' in event) cli.out.json(event.line)
  }
}

function deployContinues(deployId: string) {
  const hint = `to follow it again: berth logs --deploy ${deployId} -f\nto stop it: berth cancel ${deployId}`
  return interruption('the deploy continues in the background', hint)
}

/** Prints the outcome: address and undo, or phase, reason and next step. Returns the exit code. */
export async function concludeDeploy(cli: Cli, deploy: Deploy): Promise<number> {
  const service = await cli.client.call<Service>('GET', servicePath(deploy.service_id))
  const isLive = deploy.status === 'live' || deploy.status === 'deactivated'
  const address = isLive ? await fetchAddress(cli, deploy, service) : null
  if (cli.out.isJson) cli.out.json({ ...deploy, address })
  else if (isLive) await reportLive(cli, deploy, service, address)
  else await reportFailed(cli, deploy, service)
  return isLive ? exitCodes.ok : exitCodes.failed
}

/** The public address, else a private name and port, else the first instance's; null for a worker. */
export async function fetchAddress(
  { client }: Cli,
  deploy: Deploy,
  service: Service,
): Promise<string | null> {
  if (service.url) return service.url
  if (service.internal_host === null) return null
  if (service.type === 'private_service') return reachedAt(service)
  const { instances } = await client.call<ServiceStatus>('GET', `${servicePath(service.id)}/status`)
  const ownInstance = instances.find(({ deploy_id, address }) => deploy_id === deploy.id && address !== null)
  return ownInstance ? `http://${ownInstance.address}` : null
}

async function reportLive(
  cli: Cli,
  deploy: Deploy,
  { name, type }: Service,
  address: string | null,
): Promise<void> {
  const { out } = cli
  const states = await fetchStates(cli, deploy.id)
  const detail = address ? plain(address) : name
  out.say(phaseLine(out, { mark: '✔', name: 'live', detail, durationMs: totalMs(states) }))
  const phases = await fetchPhases(cli, deploy.id)
  const [slowest] = phases.sort((a, b) => b.duration_ms - a.duration_ms)
  if (slowest)
    out.say(out.tint('dim', `   slowest: ${plain(slowest.name)}, ${duration(slowest.duration_ms)}`))
  for (const line of warningLines(out.tint, name, deploy)) out.say(line)
  const previous = await previousLiveDeploy(cli, deploy)
  if (type === 'cron_job') out.say(nextStep(out, 'next', `berth schedule ${name}`))
  if (previous) out.say(nextStep(out, 'undo', `berth rollback ${name} ${previous.id}`))
  // If both streams go to one terminal, the line above shows it already.
  if (address && !(out.isTerminal && out.isLive)) out.print(plain(address))
}

async function reportFailed(cli: Cli, deploy: Deploy, service: Service): Promise<void> {
  const { out } = cli
  const { name } = service
  const total = duration(totalMs(await fetchStates(cli, deploy.id)))
  const verb = deploy.status === 'canceled' ? 'was canceled' : 'failed'
  const when = deploy.phase ? `while ${deploy.phase}` : 'while queued'
  out.say(`${out.tint('red', ' ✘')} ${out.tint('bold', plain(`${name} ${verb} ${when}`))}, after ${total}`)
  const room = out.isLive ? out.width() : Number.POSITIVE_INFINITY
  for (const line of paragraph(deploy.error ?? 'no reason available', '   ', room)) out.say(line)
  for (const line of paragraph(deploy.hint ?? '', '   ', room)) out.say(out.tint('dim', line))
  out.say(nextStep(out, 'why', `berth why ${deploy.id}`))
}

/** Empty for an older server: a live deploy must not fail the command. */
async function fetchPhases(cli: Cli, id: string): Promise<Why['phases']> {
  const why = await fetchWhy(cli, deployPath(id)).catch(() => null)
  return why?.phases ?? []
}

/** The last deploy before this one that went live, for a rollback. */
async function previousLiveDeploy({ client }: Cli, { id, service_id }: Deploy): Promise<Deploy | undefined> {
  const query = { limit: maxDeploysSearched }
  const deploys = await client.call<Deploy[]>('GET', `${servicePath(service_id)}/deploys`, { query })
  return deploys.find(
    (deploy) => deploy.id < id && (deploy.status === 'live' || deploy.status === 'deactivated'),
  )
}

/** The time from its start until it was live or had failed. */
function totalMs(states: DeployState[]): number {
  const last = states.find(({ status }) => status !== 'queued' && status !== 'running') ?? states.at(-1)
  return last ? Date.parse(last.at) - Date.parse(states[0]!.at) : 0
}

// Changes the running instances immediately: restart, scale, suspend, resume.
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { CliFailure, interruption } from '../failure.ts'
import { followUp, printDone, printUndo } from '../follow-up.ts'
import { parsePositive } from '../service/setting-flags.ts'
import { showWork } from '../terminal/phase-line.ts'

export function addInstanceCommands(program: BerthCommand): void {
  program
    .command('restart')
    .argument('[name]', 'the service')
    .description('restart the live image; with the current settings and variables')
    .option('--no-follow', 'do not wait for it')
    .examples('berth restart shop', 'berth restart shop --no-follow')
    .runs(restart)
  program
    .command('scale')
    .argument('<name>', 'the service')
    .argument('<number>', 'how many instances', parsePositive)
    .description('set the number of instances, and wait until they run')
    .option('--no-wait', 'do not wait until they run')
    .examples('berth scale shop 3', 'berth scale shop 1 --no-wait')
    .runs(scale)
  program
    .command('suspend')
    .argument('[name]', 'the service')
    .description('stop all instances until it is resumed')
    .option('--no-wait', 'do not wait until they have stopped')
    .examples('berth suspend shop', 'berth suspend shop --json')
    .runs((cli, name: string | undefined, options: WaitOption) => setSuspended(cli, name, true, options))
  program
    .command('resume')
    .argument('[name]', 'the service')
    .description('start the instances of a suspended service')
    .option('--no-wait', 'do not wait until they run')
    .examples('berth resume shop', 'berth resume shop --json')
    .runs((cli, name: string | undefined, options: WaitOption) => setSuspended(cli, name, false, options))
}

async function restart(cli: Cli, name: string | undefined, { follow }: { follow: boolean }): Promise<number> {
  const path = `${servicePath(requireServiceName(cli, name))}/restart`
  return followUp(cli, await cli.client.call<Deploy>('POST', path), follow)
}

interface WaitOption {
  wait: boolean
}

async function scale(cli: Cli, name: string, instances: number, { wait }: WaitOption): Promise<void> {
  const { client } = cli
  const path = servicePath(name)
  const previous = await client.call<Service>('GET', path)
  const service = await client.call<Service>('POST', `${path}/scale`, { body: { instances } })
  const when = service.suspended ? ' once it is resumed' : ''
  const words = `${service.name} is scaled to ${count(instances, 'instance')}${when}`
  const undo = previous.instances === instances ? null : `berth scale ${service.name} ${previous.instances}`
  const isWaiting = wait && !service.suspended
  await conclude(cli, { service, verb: 'scaling' }, { isWaiting, message: words, undo })
}

async function setSuspended(cli: Cli, name: string | undefined, isSuspended: boolean, { wait }: WaitOption) {
  const verb = isSuspended ? 'suspend' : 'resume'
  const path = `${servicePath(requireServiceName(cli, name))}/${verb}`
  const service = await cli.client.call<Service>('POST', path)
  const end = service.type === 'cron_job' ? 'no instance is running' : 'its instances are stopping'
  const words = `${service.name} is ${isSuspended ? `suspended: ${end}` : 'resumed'}`
  const undo = isSuspended ? `berth resume ${service.name}` : null
  const change = { service, verb: isSuspended ? 'suspending' : 'resuming' }
  await conclude(cli, change, { isWaiting: wait, message: words, undo })
}

interface Conclusion {
  isWaiting: boolean
  /** The message about a change with `--no-wait`. */
  message: string
  undo: string | null
}

// The undo is printed last, also if the wait fails, because the change is saved.
async function conclude(
  cli: Cli,
  change: Change,
  { isWaiting, message: words, undo }: Conclusion,
): Promise<void> {
  const { client, out } = cli
  const { service } = change
  const isShown = isWaiting && hasInstances(service)
  try {
    if (isShown) await waitForInstances(cli, change)
    else if (!out.isJson) printDone(cli, words)
  } finally {
    if (undo && !out.isJson) printUndo(cli, undo)
  }
  if (out.isJson) out.json(isShown ? await client.call<Service>('GET', servicePath(service.id)) : service)
}

// Waits until the instances match the requested change. The server applies it in any case.

/** A restarting service may be degraded for a moment. */
const degradedGraceMs = 15_000
/** Longer than an instance takes to drain and start by default. */
const timeoutMs = 10 * 60_000

interface Change {
  service: Service
  /** `scaling` */
  verb: string
}

/** Whether there is anything to wait for: an instance, or a version to start. */
function hasInstances({ type, live_deploy_id }: Service): boolean {
  return type !== 'cron_job' && live_deploy_id !== null
}

/** Shows the progress. Throws CliFailure if the service stays degraded, or Docker does not respond. */
async function waitForInstances(cli: Cli, { service: { id, name }, verb }: Change): Promise<void> {
  const startedAt = Date.now()
  let soundAt = startedAt
  const look = async () => {
    const status = await cli.client.call<ServiceStatus>('GET', `${servicePath(id)}/status`)
    if (isSettled(status)) return status
    if (status.state !== 'degraded') soundAt = Date.now()
    const hint = `berth status ${name} shows its instances, berth logs ${name} what they write`
    if (Date.now() - soundAt > degradedGraceMs) {
      throw new CliFailure(`${name} is degraded: ${status.reason ?? progressOf(status)}`, { hint })
    }
    if (Date.now() - startedAt > timeoutMs) {
      throw new CliFailure(`${name} is not ready yet: ${progressOf(status)}`, { hint })
    }
    return status
  }
  await showWork<ServiceStatus>(cli, {
    name: verb,
    detail: (status) => (status ? progressOf(status) : name),
    summary: (status) => `${name} ${outcomeOf(status)}`,
    begin: look,
    look,
    isUnderWay: (status) => !isSettled(status),
    interruption: () => interruption(`${name} continues in the background`, `berth status ${name}`),
  })
}

/** True if exactly the desired number of instances of this version run and the service is not degraded. */
function isSettled({ state, desired_instances: desired, instances }: ServiceStatus): boolean {
  const live = instances.filter(({ role }) => role === 'live')
  const isComplete = live.length === desired && live.every((one) => one.state === 'running')
  return isComplete && state !== 'degraded'
}

/** `2 of 3 instances run`, `1 instance stops` */
function progressOf({ desired_instances: desired, instances }: ServiceStatus): string {
  const running = instances.filter(({ role, state }) => role === 'live' && state === 'running').length
  if (running > desired) return `${count(running - desired, 'instance')} still stopping`
  return `${running} of ${count(desired, 'instance')} running`
}

function outcomeOf({ desired_instances: desired }: ServiceStatus): string {
  return desired === 0 ? 'has stopped' : `runs ${count(desired, 'instance')}`
}

// Changes the running instances immediately: restart, scale, suspend, resume.
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { count } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { followUp, printDone, printUndo } from '../follow-up.ts'
import { parsePositive } from '../service/setting-flags.ts'
import { type Change, hasInstances, waitForInstances } from '../service/wait-for-instances.ts'

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

// What changes the running instances at once: restart, scale, suspend, resume.
import type { Command } from 'commander'
import type { Deploy } from '../../http/schemas/deploy.ts'
import type { Service } from '../../http/schemas/service.ts'
import { servicePath } from '../client.ts'
import type { Runner } from '../command.ts'
import { chosenService } from '../config/project.ts'
import { examples } from '../examples.ts'
import { followUp, sayDone, sayUndo } from '../follow-up.ts'
import { whole } from '../service/setting-flags.ts'
import type { Cli } from '../session.ts'
import { count } from '../terminal/quantities.ts'

export function addInstanceCommands(program: Command, run: Runner): void {
  program
    .command('restart')
    .argument('[name]', 'the service')
    .description('run the live image again; with the settings and variables of now')
    .option('--no-follow', 'do not wait for it')
    .addHelpText('after', examples('berth restart shop', 'berth restart shop --no-follow'))
    .action(run(restart))
  program
    .command('scale')
    .argument('<name>', 'the service')
    .argument('<number>', 'how many instances', whole)
    .description('set the number of instances')
    .addHelpText('after', examples('berth scale shop 3', 'berth scale shop 1 --json'))
    .action(run(scale))
  program
    .command('suspend')
    .argument('[name]', 'the service')
    .description('stop all instances until it is resumed')
    .addHelpText('after', examples('berth suspend shop', 'berth suspend shop --json'))
    .action(run((cli, name: string | undefined) => setSuspended(cli, chosenService(name), true)))
  program
    .command('resume')
    .argument('[name]', 'the service')
    .description('start the instances of a suspended service')
    .addHelpText('after', examples('berth resume shop', 'berth resume shop --json'))
    .action(run((cli, name: string | undefined) => setSuspended(cli, chosenService(name), false)))
}

async function restart(cli: Cli, name: string | undefined, { follow }: { follow: boolean }): Promise<number> {
  const path = `${servicePath(chosenService(name))}/restart`
  return followUp(cli, await cli.client.call<Deploy>('POST', path), follow)
}

async function scale(cli: Cli, name: string, instances: number): Promise<void> {
  const { client, out } = cli
  const path = servicePath(name)
  const former = await client.call<Service>('GET', path)
  const service = await client.call<Service>('POST', `${path}/scale`, { body: { instances } })
  if (out.isJson) return out.json(service)
  const when = service.suspended ? ' when it is resumed' : ''
  sayDone(cli, `${service.name} is to run ${count(instances, 'instance')}${when}`)
  if (former.instances !== instances) sayUndo(cli, `berth scale ${service.name} ${former.instances}`)
}

async function setSuspended(cli: Cli, name: string, isSuspended: boolean): Promise<void> {
  const { client, out } = cli
  const verb = isSuspended ? 'suspend' : 'resume'
  const service = await client.call<Service>('POST', `${servicePath(name)}/${verb}`)
  if (out.isJson) return out.json(service)
  const end = service.type === 'cron_job' ? 'nothing of it runs any more' : 'its instances stop'
  sayDone(cli, `${service.name} is ${isSuspended ? `suspended: ${end}` : 'resumed'}`)
  if (isSuspended) sayUndo(cli, `berth resume ${service.name}`)
}

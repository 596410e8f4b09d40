// Hooks: where pushes come in, and what they led to.
import type { Deploy } from '../../api/deploy.ts'
import type { GitConnection } from '../../api/git-connection.ts'
import type { Delivery, DeployHook, GitHook, WholeDelivery } from '../../api/hook.ts'
import { fetchNewest, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { followUp, printDone } from '../follow-up.ts'
import { resolveService } from '../service/resolve-target.ts'
import { parsePositive } from '../service/setting-flags.ts'
import { age } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'
import { type Column, printFacts, printList, printTable } from '../terminal/table.ts'

export function addDeployHookCommand(program: BerthCommand): void {
  program
    .command('deploy-hook')
    .argument('[name]', 'the service')
    .description('show the address whose POST deploys a service; it contains a key')
    .option('--rotate', 'replace the key')
    .examples('berth deploy-hook shop', 'berth deploy-hook shop --rotate')
    .runs(showDeployHook)
}

export function addDeliveryCommands(git: BerthCommand): void {
  git
    .command('deliveries')
    .argument('[name]', 'the service')
    .description('list the pushes that providers reported to a service, and what became of them')
    .option('--limit <number>', 'how many', parsePositive, 20)
    .examples('berth git deliveries shop', 'berth git deliveries shop --json')
    .runs(listDeliveries)
  git
    .command('delivery')
    .argument('<delivery>', 'its id')
    .description('show a push that a provider reported, and what each service made of it')
    .examples('berth git delivery dlv-01jexample', 'berth git delivery dlv-01jexample --json')
    .runs(showDelivery)
  git
    .command('redeliver')
    .argument('<delivery>', 'its id')
    .argument('[name]', 'the service')
    .description('deploy the head that a push had, also if it was deployed before; follows it')
    .option('--no-follow', 'do not wait for it')
    .examples(
      'berth git redeliver dlv-01jexample shop',
      'berth git redeliver dlv-01jexample shop --no-follow',
    )
    .runs(redeliver)
}

async function listDeliveries(cli: Cli, name: string | undefined, { limit }: { limit: number }) {
  const service = await resolveService(cli, name)
  const deliveries = await fetchNewest<Delivery>(cli.client, `${servicePath(service)}/deliveries`, limit)
  printList(cli.out, deliveries, `no provider reported a push to ${service}: berth git hook`, [
    { heading: 'DELIVERY', text: ({ id }) => id },
    { heading: 'CAME', text: ({ received_at }) => age(received_at) },
    { heading: 'HEAD', text: ({ after }) => after?.slice(0, 7) ?? '' },
    ...decisionColumns,
  ])
}

const decisionColumns: Column<Pick<Delivery, 'deploy_id' | 'reason'>>[] = [
  { heading: 'DEPLOY', text: ({ deploy_id }) => deploy_id ?? '' },
  { heading: 'WHY', text: ({ reason }) => reason ?? 'not decided yet', isFlexible: true },
]

async function showDelivery({ client, out }: Cli, id: string): Promise<void> {
  const delivery = await client.call<WholeDelivery>('GET', `/git/deliveries/${encodeURIComponent(id)}`)
  if (out.isJson) return out.json(delivery)
  const { provider, connection_id, event, forced, received_at, reason, decisions } = delivery
  printFacts(out, [
    ['id', delivery.id, 'bold'],
    ['came', age(received_at)],
    ['provider', provider],
    ['its id there', delivery.delivery_id],
    ['connection', connection_id],
    ['event', forced ? `forced ${event}` : event],
    ['repository', delivery.repository],
    ['ref', delivery.ref],
    ['before', delivery.before],
    ['after', delivery.after],
    ['ignored', reason],
  ])
  if (decisions.length === 0) return
  out.print()
  printTable(out, decisions, [
    { heading: 'SERVICE', text: ({ service, service_id }) => service ?? `${service_id}, deleted` },
    { heading: 'DECIDED', text: ({ decided_at }) => (decided_at === null ? '' : age(decided_at)) },
    ...decisionColumns,
  ])
}

async function redeliver(
  cli: Cli,
  delivery: string,
  name: string | undefined,
  { follow }: { follow: boolean },
): Promise<number> {
  const deliveries = `${servicePath(requireServiceName(cli, name))}/deliveries`
  const path = `${deliveries}/${encodeURIComponent(delivery)}/redeliver`
  return followUp(cli, await cli.client.call<Deploy>('POST', path), follow)
}

async function showDeployHook(cli: Cli, name: string | undefined, { rotate }: { rotate?: boolean }) {
  const { client, out } = cli
  const service = requireServiceName(cli, name)
  const path = `${servicePath(service)}/deploy-hook`
  const hook = rotate
    ? await client.call<DeployHook>('POST', `${path}/rotate`)
    : await client.call<DeployHook>('GET', path)
  if (out.isJson) return out.json(hook)
  if (rotate) printDone(cli, `the deploy hook of ${service} has a new key`)
  out.print(plain(hook.url))
}

/** What to enter at the provider. */
export async function showGitHook({ client, out }: Cli, { id, provider, account }: GitConnection) {
  const hook = await client.call<GitHook>('GET', `/git/connections/${encodeURIComponent(id)}/hook`)
  if (out.isJson) return out.json(hook)
  if (hook.registered) return out.say(`the app of ${account} sends its pushes: there is nothing to set up`)
  if (hook.url === null)
    return out.say('no provider can reach this server without --dashboard-host: it looks for pushes itself')
  printFacts(out, [
    ['page', pages[provider]],
    ['address', hook.url],
    ['content type', hook.content_type],
    ['secret', hook.secret],
    ['events', hook.events.join(', ')],
    ['check events', `${hook.check_events.join(', ')}; only for services whose pushes wait for checks`],
  ])
}

const pages = {
  github: 'the repository or organization: Settings, Webhooks, Add webhook',
  gitlab: 'the project or group: Settings, Webhooks, Add new webhook; the secret is its secret token',
  gitea: 'the repository or organization: Settings, Webhooks, Add Webhook, Gitea',
}

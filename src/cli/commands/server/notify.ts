// Where messages to people go: `berth notify`. Secrets come from a prompt, a pipe or the environment.
import type { Channel, Delivery } from '../../../api/notification.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { CliFailure, usageFailure } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { parseWholeNumber } from '../../service/setting-flags.ts'
import { age } from '../../terminal/ages.ts'
import { plain, type Style } from '../../terminal/output.ts'
import { askSecret } from '../../terminal/prompts.ts'
import { readStandardInput } from '../../terminal/standard-input.ts'
import { printList } from '../../terminal/table.ts'

const variable = 'BERTH_NOTIFY_SECRET'

export function addNotifyCommands(program: BerthCommand): void {
  const notify = program
    .command('notify')
    .description('list the channels for messages to people')
    .examples('berth notify', 'berth notify ls --json')
    .lists(list)
  withSettings(
    notify
      .command('add')
      .argument('<kind>', 'webhook, smtp, slack, discord or ntfy')
      .argument('<name>', 'the name of the channel')
      .description(`add a channel; its secret is read from a prompt, a pipe or ${variable}`),
  )
    .examples(
      'berth notify add webhook ops --url https://ops.example.com/berth',
      'pass show slack | berth notify add slack chat --min-severity problem',
      'berth notify add ntfy phone --url https://ntfy.sh --topic berth-4f2a',
      'berth notify add smtp mail --host mail.test --username berth --from a@b.test --to c@d.test',
    )
    .runs(add)
  withSettings(notify.command('update').argument('<name>', 'the channel').description('change a channel'))
    .option('--enable', 'send messages again')
    .option('--disable', 'send no messages, and cancel those that wait')
    .examples('berth notify update ops --min-severity problem', 'berth notify update ops --disable')
    .runs(update)
  notify
    .command('test')
    .argument('<name>', 'the channel')
    .description('send a test message, and show what the receiver answers')
    .examples('berth notify test ops', 'berth notify test ops --json')
    .runs(test)
  notify
    .command('rm')
    .argument('<name>', 'the channel')
    .description('delete a channel, and cancel the messages that wait')
    .examples('berth notify rm ops', 'berth notify rm chat')
    .runs(remove)
  notify
    .command('deliveries')
    .description('list the messages, newest first, and what became of them')
    .option('--channel <name>', 'only those of this channel')
    .option('--state <state>', 'only those in this state, such as failed')
    .option('--limit <number>', 'how many, at most 500', parseWholeNumber, 20)
    .examples('berth notify deliveries', 'berth notify deliveries --channel ops --state failed')
    .runs(listDeliveries)
  notify
    .command('redeliver')
    .argument('<id>', 'the delivery')
    .description('send a message again, or a waiting one now')
    .examples('berth notify redeliver ntf-01jexample', 'berth notify redeliver ntf-01jexample --json')
    .runs(redeliver)
}

function withSettings(command: BerthCommand): BerthCommand {
  return command
    .option('--url <url>', 'webhook: the receiver; ntfy: the server')
    .option('--topic <topic>', 'ntfy: the topic')
    .option('--host <host>', 'smtp: the mail server')
    .option('--port <port>', 'smtp: its port (by default 587, or 465 with implicit TLS)', parseWholeNumber)
    .option('--tls <mode>', 'smtp: starttls (by default), implicit or none')
    .option('--username <name>', 'smtp: the user; the password is read')
    .option('--from <address>', 'smtp: the sender')
    .option('--to <addresses>', 'smtp: the recipients, separated by commas', parseList)
    .option('--with-secret', 'read a new secret, password or token')
    .option('--min-severity <severity>', 'info, warning (by default) or problem')
    .option('--services <names>', 'only about these, separated by commas; "" for all', parseList)
    .option('--codes <codes>', 'only of these rules, separated by commas; "" for all', parseList)
}

function parseList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

type Options = Record<string, unknown>

const settingNames = 'url topic host port tls username from to services codes'.split(' ')

/** Not all options: they include those that every command has. */
function bodyOf(options: Options) {
  const settings = Object.fromEntries(settingNames.map((name) => [name, options[name]]))
  const enabled = options.enable ? true : options.disable ? false : undefined
  return { ...settings, min_severity: options.minSeverity, enabled }
}

async function list({ client, out }: Cli): Promise<void> {
  const channels = await client.call<Channel[]>('GET', '/notification-channels')
  printList(out, channels, 'no channels: berth notify add webhook NAME --url URL', [
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold' },
    { heading: 'KIND', text: ({ kind }) => kind },
    { heading: 'TO', text: targetOf, isFlexible: true },
    { heading: 'MESSAGES', text: filterOf },
    {
      heading: 'LAST',
      text: ({ last_delivery: last }) => (last ? `${last.status} ${age(last.at)}` : ''),
      style: ({ last_delivery: last }) => last && styleOf(last),
    },
  ])
}

function targetOf({ url, topic, to }: Channel): string {
  if (to !== null) return to.join(', ')
  return topic === null ? (url ?? '') : `${url} ${topic}`
}

function filterOf({ enabled, min_severity, services, codes }: Channel): string {
  if (!enabled) return 'disabled'
  return [`from ${min_severity}`, services?.join(', '), codes?.join(', ')].filter(Boolean).join('; ')
}

function styleOf({ status }: Pick<Delivery, 'status'>): Style | null {
  if (status === 'delivered') return 'green'
  return status === 'failed' ? 'red' : status === 'waiting' ? 'yellow' : null
}

async function add(cli: Cli, kind: string, name: string, options: Options): Promise<void> {
  const { client, out } = cli
  const isChat = kind === 'slack' || kind === 'discord'
  if (isChat && options.url !== undefined) {
    throw usageFailure(`the address of an incoming webhook is a secret`, `pipe it in, or set ${variable}`)
  }
  const isAsked = isChat || options.username !== undefined || options.withSecret
  const body = { kind, name, ...bodyOf(options), ...(isAsked ? await readSecret(cli, kind) : {}) }
  const channel = await client.call<Channel>('POST', '/notification-channels', { body })
  if (out.isJson) return out.json(channel)
  printDone(cli, `${channel.name} gets messages from ${channel.min_severity}`)
  if (kind === 'webhook' && !isAsked) {
    out.say('   its signing secret is shown only now; the receiver verifies messages with it:')
    out.print(plain(channel.secret!))
  }
  printNext(cli, `berth notify test ${channel.name}`)
}

async function update(cli: Cli, name: string, options: Options): Promise<void> {
  const { client, out } = cli
  const kind = options.withSecret ? (await client.call<Channel>('GET', pathOf(name))).kind : null
  const secret = kind === null ? {} : await readSecret(cli, kind)
  const body = { ...bodyOf(options), ...secret }
  const channel = await client.call<Channel>('PATCH', pathOf(name), { body })
  if (out.isJson) return out.json(channel)
  const state = channel.enabled ? `gets messages from ${channel.min_severity}` : 'is disabled'
  printDone(cli, `${channel.name} ${state}`)
}

/** Never an argument: other users of the host could read it. */
async function readSecret(cli: Cli, kind: string): Promise<{ url: string } | { secret: string }> {
  const isChat = kind === 'slack' || kind === 'discord'
  const what = isChat ? 'the incoming webhook' : 'the secret'
  const question = { message: `Enter ${what}:`, instead: `pipe it in, or set ${variable}` }
  const ask = () => (cli.stdin.isTTY ? askSecret(cli, question) : readStandardInput(cli, what))
  const read = cli.env[variable] || (await ask())
  return isChat ? { url: read } : { secret: read }
}

async function test(cli: Cli, name: string): Promise<void> {
  const delivery = await cli.client.call<Delivery>('POST', `${pathOf(name)}/test`)
  if (cli.out.isJson) cli.out.json(delivery)
  const { status, error, channel, attempts } = delivery
  if (status === 'delivered') {
    const [attempt] = attempts
    return printDone(cli, `${channel} has it: answered ${attempt?.response_status} in ${attempt?.ms} ms`)
  }
  throw new CliFailure(`${channel} did not get it: ${error ?? `it is ${status}`}`, {
    hint: 'berth notify update --help shows what can be changed',
  })
}

async function remove(cli: Cli, name: string): Promise<void> {
  await cli.client.call('DELETE', pathOf(name))
  printDone(cli, `${name} is deleted`)
}

interface ListOptions {
  channel?: string
  state?: string
  limit: number
}

async function listDeliveries({ client, out }: Cli, { channel, state, limit }: ListOptions) {
  const query = { channel, state, limit }
  const deliveries = await client.call<Delivery[]>('GET', '/notification-deliveries', { query })
  printList(out, deliveries, 'no messages', [
    { heading: 'ID', text: ({ id }) => id, style: () => 'dim' },
    { heading: 'AT', text: ({ created_at }) => age(created_at) },
    { heading: 'CHANNEL', text: ({ channel }) => channel },
    { heading: 'STATE', text: ({ status }) => status, style: styleOf },
    { heading: 'TRIES', text: ({ attempts }) => String(attempts.length), isRight: true },
    { heading: 'MESSAGE', text: messageOf, isFlexible: true },
  ])
}

function messageOf({ title, error, messages }: Delivery): string {
  const others = messages > 1 ? ` (and ${messages - 1} more)` : ''
  return error === null ? `${title}${others}` : `${title}${others}: ${error}`
}

async function redeliver(cli: Cli, id: string): Promise<void> {
  const path = `/notification-deliveries/${encodeURIComponent(id)}/redeliver`
  const delivery = await cli.client.call<Delivery>('POST', path)
  if (cli.out.isJson) return cli.out.json(delivery)
  printDone(cli, `${delivery.channel} gets it again as ${delivery.id}`)
  printNext(cli, `berth notify deliveries --channel ${delivery.channel}`)
}

function pathOf(name: string): string {
  return `/notification-channels/${encodeURIComponent(name)}`
}

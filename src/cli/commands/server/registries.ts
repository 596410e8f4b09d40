// The registries whose private images the server may pull.
import type { Registry } from '../../../api/registry.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { printDone } from '../../follow-up.ts'
import { age } from '../../terminal/ages.ts'
import { askSecret } from '../../terminal/prompts.ts'
import { readStandardInput } from '../../terminal/standard-input.ts'
import { printList } from '../../terminal/table.ts'

export function addRegistryCommands(program: BerthCommand): void {
  const registries = program
    .command('registries')
    .description('list credentials of image registries')
    .examples('berth registries', 'berth registries ls --json')
    .lists(list)
  registries
    .command('add')
    .argument('<host>', 'as in the names of its images, such as ghcr.io')
    .description('store credentials; the password is read from a prompt or a pipe')
    .requiredOption('-u, --username <name>', 'the user name')
    .option('--password-stdin', 'read the password from standard input (the default in a pipe)')
    .option('--no-verify', 'do not verify them with the registry')
    .examples('berth registries add ghcr.io -u ada', 'pass show ghcr | berth registries add ghcr.io -u ada')
    .runs(add)
  registries
    .command('rm')
    .argument('<host>', 'the registry')
    .description('delete the credentials')
    .examples('berth registries rm ghcr.io', 'berth registries rm registry.example.com:5000')
    .runs(remove)
}

interface AddOptions {
  username: string
  passwordStdin?: boolean
  verify: boolean
}

async function list({ client, out }: Cli): Promise<void> {
  const registries = await client.call<Registry[]>('GET', '/registries')
  printList(out, registries, 'no registries: images are pulled without credentials', [
    { heading: 'HOST', text: ({ host }) => host, style: () => 'bold' },
    { heading: 'USERNAME', text: ({ username }) => username },
    { heading: 'CHANGED', text: ({ updated_at }) => age(updated_at) },
  ])
}

async function add(cli: Cli, host: string, { username, passwordStdin, verify }: AddOptions): Promise<void> {
  const question = { message: `Password of ${username} at ${host}:`, instead: 'pipe the password in' }
  const password =
    cli.stdin.isTTY && !passwordStdin
      ? await askSecret(cli, question)
      : await readStandardInput(cli, 'the password')
  const path = `/registries/${encodeURIComponent(host)}`
  const body = { username, password, ...(verify ? { verify } : {}) }
  const registry = await cli.client.call<Registry>('PUT', path, { body })
  if (cli.out.isJson) return cli.out.json(registry)
  const how = verify ? ', which the registry accepted' : ''
  printDone(cli, `images of ${registry.host} are pulled as ${registry.username}${how}`)
}

async function remove(cli: Cli, host: string): Promise<void> {
  await cli.client.call('DELETE', `/registries/${encodeURIComponent(host)}`)
  printDone(cli, `the credentials of ${host} are deleted`)
}

// The deploy key of a service, with which its repository is read over ssh.
import type { DeployKey } from '../../api/deploy-key.ts'
import type { Service } from '../../api/service.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { usageFailure } from '../failure.ts'
import { printDone } from '../follow-up.ts'
import { age } from '../terminal/ages.ts'
import { plain } from '../terminal/output.ts'

interface Options {
  rotate?: boolean
  rm?: boolean
  forgetHost?: boolean
}

export function addDeployKeyCommand(program: BerthCommand): void {
  program
    .command('deploy-key')
    .argument('[name]', 'the service')
    .description("show the ssh key that reads a service's repository; it is made first")
    .option('--rotate', 'replace the key')
    .option('--rm', 'delete the key')
    .option('--forget-host', 'accept the next key of the git server, because it has a new one')
    .examples(
      'berth deploy-key shop',
      'berth deploy-key shop --rotate',
      'berth deploy-key shop --forget-host',
      'berth deploy-key shop --rm',
    )
    .runs(runDeployKey)
}

async function runDeployKey(cli: Cli, name: string | undefined, options: Options): Promise<void> {
  if ([options.rotate, options.rm, options.forgetHost].filter(Boolean).length > 1)
    throw usageFailure('--rotate, --rm and --forget-host exclude each other')
  const service = requireServiceName(cli, name)
  const path = `${servicePath(service)}/deploy-key`
  if (options.rm) {
    await cli.client.call('DELETE', path)
    return printDone(cli, `the deploy key of ${service} was deleted`)
  }
  if (options.forgetHost) {
    await cli.client.call('DELETE', `${path}/hosts`)
    return printDone(cli, `the next key of the git server of ${service} is accepted and pinned`)
  }
  const body = options.rotate ? { rotate: true } : {}
  const key = await cli.client.call<DeployKey>('POST', path, { body })
  if (cli.out.isJson) return cli.out.json(key)
  if (options.rotate) printDone(cli, `${service} has a new deploy key: enter it at the git server`)
  cli.out.print(plain(key.public_key))
  explain(cli, key, await cli.client.call<Service>('GET', servicePath(service)))
}

/** On stderr, so that the key alone can be piped. */
function explain({ out }: Cli, { fingerprint, hosts }: DeployKey, { name, repo_url }: Service): void {
  out.say(`   ${plain(fingerprint)}`)
  for (const { host, type, fingerprint: print, pinned_at } of hosts)
    out.say(plain(`   ${host} has the key ${type} ${print}, pinned ${age(pinned_at)}`))
  out.say('   enter it at the repository, for reading only:')
  for (const [provider, page] of pages) out.say(`     ${provider}: ${page}`)
  if (repo_url !== null && /^(https?:\/\/|\/)/i.test(repo_url))
    out.say(`   it is used for ssh addresses: berth update ${plain(name)} --repo git@HOST:OWNER/NAME.git`)
}

const pages = [
  ['GitHub', 'Settings, Deploy keys, Add deploy key'],
  ['GitLab', 'Settings, Repository, Deploy keys'],
  ['Gitea, Forgejo', 'Settings, Deploy keys, Add Deploy Key'],
]

// The servers that the user is logged in to, and the properties of the chosen server.
import type { Info } from '../../../api/info.ts'
import { size } from '../../../quantities.ts'
import { version } from '../../../version.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { changeConfig, knownServer, readConfig } from '../../config/config.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { span } from '../../terminal/ages.ts'
import { type Fact, printFacts, printList } from '../../terminal/table.ts'
import { forgetServer } from './login.ts'

export function addServerCommands(program: BerthCommand): void {
  const servers = program
    .command('servers')
    .description('list the servers you are logged in to')
    .examples('berth servers', 'berth servers --json')
    .runs(listServers)
  servers
    .command('use')
    .argument('<name>', 'the server')
    .description('set the default server')
    .examples('berth servers use production', 'berth servers use local')
    .runs(useServer)
  servers
    .command('rm')
    .argument('<name>', 'the server')
    .description('remove a server and its token')
    .examples('berth servers rm production', 'berth servers rm local')
    .runs(forgetServer)
  program
    .command('info')
    .description('show version, engine and free disk of the server')
    .examples('berth info', 'berth info --json')
    .runs(showInfo)
}

async function listServers({ env, out }: Cli): Promise<void> {
  const config = readConfig(env)
  const servers = Object.entries(config.servers).map(([name, { url, token }]) => {
    return { name, url, is_default: name === config.default, token_hint: token.slice(-4) }
  })
  printList(out, servers, 'no servers yet: berth login', [
    { heading: '', text: ({ is_default }) => (is_default ? '*' : ''), style: () => 'green' },
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold' },
    { heading: 'ADDRESS', text: ({ url }) => url, isFlexible: true },
    { heading: 'TOKEN', text: ({ token_hint }) => `…${token_hint}`, style: () => 'dim' },
  ])
}

async function useServer(cli: Cli, wanted: string): Promise<void> {
  const config = readConfig(cli.env)
  const { name } = knownServer(config, wanted)
  changeConfig(cli.env, (config) => ({ ...config, default: name }))
  printDone(cli, `${name} is now the default`)
}

/** Null for a server that is active, and without the right to ask. */
export async function heldLine({ client }: Cli): Promise<string | null> {
  const info = await client.call<Info>('GET', '/info').catch(() => null)
  if (!info?.held) return null
  return 'the restored server runs no schedules and renewals, until on its host: berthd activate'
}

async function showInfo(cli: Cli): Promise<void> {
  const { client, out, server } = cli
  const info = await client.call<Info>('GET', '/info')
  if (out.isJson) return out.json(info)
  const { docker_version: docker, docker_cpus: cpus, docker_memory_bytes: memoryBytes } = info
  const { network_isolation: isolation } = info
  printFacts(out, [
    ['server', server.name, 'bold'],
    ['address', server.name === server.url ? null : server.url],
    ['version', info.version],
    ['this berth', info.version === version ? null : version],
    ['held', info.held ? `restored from a backup of ${info.held.backup_at}: berthd activate` : null, 'red'],
    ...missingFacts(info),
    ['up', span(info.uptime_seconds)],
    ['base domain', info.base_domain],
    ['docker', docker ?? 'does not respond', docker ? null : 'red'],
    ['cpus', cpus === null ? null : String(cpus)],
    ['memory', memoryBytes === null ? null : size(memoryBytes)],
    ['isolation', isolation.enforced ? null : `off: ${isolation.reason}`, 'red'],
    ['free disk', size(info.disk_free_bytes)],
    ['data', info.disk_usage ? sizes(info.disk_usage.data) : null],
    ['docker disk', info.disk_usage?.docker ? sizes(info.disk_usage.docker) : null],
    ['limits', `${defaultLimits(info)}, unless a service sets its own`],
    ['builds', shownBuilds(info.builds)],
    ['builder', hangingBuilder(info.builds), 'red'],
  ])
  if (!docker || !isolation.enforced || !info.builds.limits_in_force) printNext(cli, 'berth doctor')
}

function missingFacts({ held }: Info): Fact[] {
  return (held?.missing ?? []).map(({ name, what, hint }) => [
    'missing',
    `${what} of ${name}: ${hint}`,
    'red',
  ])
}

function shownBuilds({ builder, ...builds }: Info['builds']): string {
  const limits = [
    builds.memory_limit_mb === null ? [] : mebibytes(builds.memory_limit_mb),
    builds.cpu_limit === null ? [] : `${builds.cpu_limit} CPU`,
    builds.pids_limit === null ? [] : `${builds.pids_limit} processes`,
  ].flat()
  if (limits.length === 0) return `by ${builder}, without limits`
  const reason = builds.limits_in_force ? '' : `; not in force: ${builds.limits_reason}`
  return `by ${builder}, limited to ${limits.join(', ')} for all builds${reason}`
}

/** Null while BuildKit works; an older server does not report it. */
function hangingBuilder({ hangs_since: since }: Info['builds']): string | null {
  return since ? `BuildKit has been hanging since ${since}: builds use the classic builder` : null
}

function defaultLimits({ default_memory_limit_mb: memory, default_cpu_limit: cpus }: Info): string {
  return `${mebibytes(memory)} and ${cpus} CPU`
}

const mebibytes = (amount: number) => size(amount * 2 ** 20)

function sizes(counted: Record<string, number>): string {
  const used = Object.entries(counted).filter(([, bytes]) => bytes > 0)
  return used
    .map(([name, bytes]) => `${name.replace(/_bytes$/, '').replace('_', ' ')} ${size(bytes)}`)
    .join(', ')
}

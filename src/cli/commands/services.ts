// The services: list, create, show, update, delete.
import type { Info } from '../../api/info.ts'
import type { Service } from '../../api/service.ts'
import { serviceSettings } from '../../domain/service-settings.ts'
import { duration } from '../../quantities.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { warningLines } from '../deploy/labels.ts'
import { usageFailure } from '../failure.ts'
import { printDone, printNext } from '../follow-up.ts'
import {
  addressOf,
  addressOrSchedule,
  autoDeployText,
  readable,
  sourceOf,
  stateStyle,
} from '../service/labels.ts'
import { resolveService } from '../service/resolve-target.ts'
import {
  addSettingFlags,
  areImmediate,
  parsedSettings,
  requireDeploy,
  settingLabel,
} from '../service/setting-flags.ts'
import { age } from '../terminal/ages.ts'
import type { Output } from '../terminal/output.ts'
import { confirmByName } from '../terminal/prompts.ts'
import { type Fact, printFacts, printList } from '../terminal/table.ts'
import { addCreateCommand } from './create.ts'

export function addServiceCommands(program: BerthCommand): void {
  program
    .command('services')
    .description('list the services')
    .examples('berth services', 'berth services --json')
    .runs(listServices)
  addCreateCommand(program)
  program
    .command('show')
    .argument('[name]', 'the service')
    .description('show the settings of a service')
    .examples('berth show shop', 'berth show shop --json')
    .runs(showOne)
  addSettingFlags(program.command('update').argument('[name]', 'the service'))
    .description('change the given settings of a service; an empty text or 0 clears one')
    .examples(
      'berth update shop --health-path /healthz --memory 256',
      "berth update shop --start-command ''",
      "berth update nightly --schedule '30 2 * * *' --timezone Europe/Berlin",
    )
    .runs(updateService)
  program
    .command('delete')
    .argument('[name]', 'the service')
    .description('delete a service; prompts for its name')
    .option('--yes', 'do not ask')
    .option('--delete-disk', 'delete its disk as well; it goes to the trash')
    .option('--purge', 'with --delete-disk: delete its data immediately, without the trash')
    .option('--force', 'even if other services refer to it')
    .examples('berth delete shop', 'berth delete shop --yes --delete-disk')
    .runs(deleteService)
}

async function listServices({ client, out }: Cli): Promise<void> {
  const services = await client.call<Service[]>('GET', '/services')
  const none = 'no services yet: `berth up` deploys this folder, `berth create` prompts for its settings'
  printList(out, services, none, [
    { heading: 'NAME', text: ({ name }) => name, style: () => 'bold' },
    { heading: 'STATE', text: ({ state }) => readable(state), style: ({ state }) => stateStyle(state) },
    { heading: 'TYPE', text: ({ type }) => readable(type) },
    { heading: 'ADDRESS', text: addressOrSchedule },
    { heading: 'SOURCE', text: sourceOf, isFlexible: true },
    { heading: 'DEPLOYED', text: ({ latest_deploy }) => age(latest_deploy?.created_at) },
  ])
  if (!out.isJson) sayUndecided(out, services)
}

/** After an upgrade, until each of them is set. */
function sayUndecided(out: Output, services: Service[]): void {
  const names = services.flatMap(({ name, auto_deploys }) => (auto_deploys.undecided ? [name] : []))
  if (names.length === 0) return
  const shown = names.slice(0, maxNamesSaid).join(', ')
  const more = names.length > maxNamesSaid ? ` and ${names.length - maxNamesSaid} more` : ''
  const command = `berth update ${names.length === 1 ? shown : 'NAME'} --auto-deploy`
  out.say(`   pushes to ${shown}${more} are not deployed: ${command} on, or off to keep it so`)
}

const maxNamesSaid = 3

async function showOne(cli: Cli, name: string | undefined): Promise<void> {
  const { client, out } = cli
  const service = await client.call<Service>('GET', servicePath(await resolveService(cli, name)))
  if (out.isJson) return out.json(service)
  showService(out, service)
  const { name: shown, latest_deploy } = service
  if (latest_deploy) for (const line of warningLines(out.paint, shown, latest_deploy)) out.print(line)
}

async function updateService(cli: Cli, name: string | undefined, options: object): Promise<void> {
  const { client, out } = cli
  const settings = parsedSettings({ ...options })
  const chosen = requireServiceName(cli, name)
  if (Object.keys(settings).length === 0) {
    throw usageFailure('nothing to change', 'berth update --help lists the settings')
  }
  const path = servicePath(chosen)
  const service = await client.call<Service>('PATCH', path, { body: settings })
  if (out.isJson) return out.json(service)
  printDone(cli, `${service.name}: ${Object.keys(settings).map(settingLabel).join(', ')} saved`)
  if (requireDeploy(settings)) printNext(cli, nextDeploy(service))
  else if (!areImmediate(settings) && service.live_deploy_id) printNext(cli, `berth restart ${service.name}`)
  else if (service.schedule && ('schedule' in settings || 'timezone' in settings)) {
    printNext(cli, `berth schedule ${service.name}`)
  }
}

function nextDeploy({ name, repo_url, image }: Service): string {
  return repo_url || image ? `berth deploy ${name}` : `berth up ${name}`
}

interface DeleteOptions {
  yes?: boolean
  deleteDisk?: boolean
  purge?: boolean
  force?: boolean
}

// The project file is ignored here: the user must name the service to delete.
async function deleteService(cli: Cli, name: string | undefined, options: DeleteOptions): Promise<void> {
  if (!name) throw usageFailure('which service?', 'give the name of the service to delete')
  const { client } = cli
  const { deleteDisk, force, purge } = options
  if (purge && !deleteDisk) throw usageFailure('--purge applies to the disk only', 'add --delete-disk')
  const path = servicePath(name)
  const service = await client.call<Service>('GET', path)
  if (!options.yes) await agreeToDelete(cli, service, options)
  await client.call('DELETE', path, { query: { force, delete_disk: deleteDisk, purge } })
  printDone(cli, `${service.name} is being deleted`)
  if (service.disk_mount_path) cli.out.say(`   ${await diskNotice(cli, options)}`)
}

async function diskNotice({ client }: Cli, { deleteDisk, purge }: DeleteOptions): Promise<string> {
  if (!deleteDisk) return 'its disk is kept: berth disks'
  const { trash_days: days } = await client.call<Info>('GET', '/info')
  if (purge || days === 0) return 'its disk is deleted too, with its data'
  return `its disk stays in the trash for ${days} ${days === 1 ? 'day' : 'days'}: berth trash`
}

async function agreeToDelete(cli: Cli, service: Service, options: DeleteOptions): Promise<void> {
  const { deleteDisk, purge } = options
  const disk = service.disk_mount_path && deleteDisk ? `, and its disk${purge ? ' with all data' : ''}` : ''
  const effect = `This deletes ${service.name} with its deploys and logs${disk}`
  await confirmByName(cli, { name: service.name, effect, kept: 'nothing was deleted' })
}

/** Omits unset settings that do not apply to the service. */
function showService(out: Output, service: Service): void {
  printFacts(out, [
    ['name', service.name, 'bold'],
    ['id', service.id],
    ['type', readable(service.type)],
    ['state', readable(service.state), stateStyle(service.state)],
    ['address', addressOf(service)],
    ['source', sourceOf(service)],
    ...autoDeployFacts(service),
    ...buildFacts(service),
    ...(service.type === 'cron_job' ? scheduleFacts(service) : instanceFacts(service)),
    ...runFacts(service),
    ...edgeFacts(service),
    ['shared network', service.shared_network ? 'on: every service may connect' : null],
    ['created', age(service.created_at)],
    ['updated', age(service.updated_at)],
  ])
}

function autoDeployFacts(service: Service): Fact[] {
  const { auto_deploys, deploy_when, poll_seconds, skip_ci, watch_paths } = service
  const { status, decision } = auto_deploys
  const style = status === 'failing' || status === 'paused' ? 'yellow' : null
  return [
    ['auto deploy', autoDeployText(service), style],
    ['skip ci', skip_ci ? 'a head with [skip ci] is not deployed' : null],
    ['deploy when', deployWhenTexts[deploy_when]],
    ['watch paths', watch_paths.join(', ')],
    [
      'poll',
      poll_seconds === serviceSettings.poll_seconds.default
        ? null
        : poll_seconds === 0
          ? 'never'
          : duration(poll_seconds * 1000),
    ],
    ['last push', decision && `${decision.head.slice(0, 7)}, ${age(decision.at)}: ${decisionText(decision)}`],
  ]
}

const deployWhenTexts = {
  push: null,
  checks: 'the checks of a push have passed',
  required_checks: 'the checks of a push have passed, and there are some',
}

function decisionText({ deploy_id, reason }: NonNullable<Service['auto_deploys']['decision']>): string {
  return deploy_id === null ? `not deployed, ${reason}` : `${deploy_id}, ${reason}`
}

function buildFacts(service: Service): Fact[] {
  const { root_dir, dockerfile_path, build_env, publish_dir, spa_fallback, latest_deploy } = service
  const { build_target, build_args, builder, build_command, submodule_owners } = service
  return [
    ['git connection', service.use_git_connection ? null : 'off: its repository is read without one'],
    ['submodule owners', submodule_owners.join(', ')],
    ['root dir', root_dir],
    ['dockerfile', dockerfile_path],
    ['builder', builder],
    ['build command', build_command],
    ['build env', build_env.join(', ')],
    ['build target', build_target],
    [
      'build args',
      Object.entries(build_args)
        .map(([key, value]) => `${key}=${value}`)
        .join(', '),
    ],
    ['publish dir', publish_dir],
    ['spa fallback', spa_fallback ? 'yes' : null],
    ['live deploy', service.live_deploy_id],
    [
      'last deploy',
      latest_deploy && `${latest_deploy.id} ${latest_deploy.status}, ${age(latest_deploy.created_at)}`,
    ],
  ]
}

function edgeFacts({ custom_domains, hsts, request_timeout_seconds, max_body_mb }: Service): Fact[] {
  return [
    ['domains', custom_domains.join(', ')],
    ['hsts', hsts ? 'on' : null],
    ['answer within', request_timeout_seconds === 75 ? null : duration(request_timeout_seconds * 1000)],
    ['body limit', max_body_mb === 512 ? null : `${max_body_mb} MiB`],
  ]
}

/** For a cron job, which listens on no port and has no permanent instances. */
function scheduleFacts({ schedule, timezone, overlap }: Service): Fact[] {
  return [
    ['schedule', schedule],
    ['time zone', timezone ?? 'UTC'],
    ['overlap', overlap ?? 'skip'],
  ]
}

function instanceFacts(service: Service): Fact[] {
  return [
    ['instances', service.suspended ? `${service.instances}, suspended` : String(service.instances)],
    ['port', service.internal_host === null ? null : portOf(service)],
    ['protocol', service.protocol === 'http' ? null : service.protocol],
    ['health check', checkOf(service)],
    ['drain', duration(service.drain_seconds * 1000)],
    ['disk', service.disk_mount_path],
  ]
}

const portSourceLabels = {
  setting: null,
  env: 'PORT of its env',
  image: 'exposed by its image',
  detected: 'detected',
  default: 'the default',
}

function portOf({ port, internal_port, port_source }: Service): string {
  if (port !== null) return String(port)
  const text = port_source && portSourceLabels[port_source]
  return text ? `automatic: ${internal_port}, ${text}` : 'automatic'
}

function checkOf({ health_check, health_check_path, health_check_timeout_seconds }: Service): string | null {
  if (health_check_path)
    return `${health_check_path}, within ${duration(health_check_timeout_seconds * 1000)}`
  return health_check === 'image' ? 'the HEALTHCHECK of its image' : null
}

function runFacts(service: Service): Fact[] {
  const { memory_limit_mb: memory, cpu_limit: cpu } = service
  return [
    ['start command', service.start_command],
    ['init', service.init ? null : 'off'],
    ['before deploy', service.pre_deploy_command],
    ['job limit', jobLimit(service)],
    ['memory', memory === null ? "the server's default" : `${memory} MiB`],
    ['cpu', cpu === null ? "the server's default" : String(cpu)],
  ]
}

/** Any service can have runs. The default limit is shown only for a cron job: runs are its purpose. */
function jobLimit({ type, timeout_seconds: seconds }: Service): string | null {
  if (seconds !== null) return duration(seconds * 1000)
  return type === 'cron_job' ? 'a day' : null
}

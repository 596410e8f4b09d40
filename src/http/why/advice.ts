// Advice for failures by error code. The error message has the cause; the advice has the next step.
import type { ErrorCode } from '../../../machines/error-codes.ts'
import type { Backup, Restore } from '../../api/backup.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { DiskChown } from '../../api/disk.ts'
import type { JobRun } from '../../api/job.ts'
import type { Service } from '../../api/service.ts'

export interface Advice {
  /** One sentence that contains the commands. */
  hint: string
  commands: string[]
}

function advise(hint: string, ...commands: string[]): Advice {
  return { hint, commands }
}

function adviseTo(purpose: string, command: string): Advice {
  return advise(`${purpose}: ${command}`, command)
}

function adviseSequence(first: string, second: string): Advice {
  return advise(`${first}, then: ${second}`, first, second)
}

/** The error fields of a record. Records of older versions have no code. */
export interface FailedRecord {
  error_code?: string | null | undefined
  error_details?: Readonly<Record<string, string | number>> | null | undefined
}

/** A detail as text, or the fallback if an older version did not store it. */
function detailOf({ error_details: details }: FailedRecord, name: string, fallback: string): string {
  return String(details?.[name] ?? fallback)
}

export function failureOf(
  { error, error_code, error_details }: FailedRecord & { error: string | null },
  advice: Advice | null,
) {
  return {
    error,
    error_code: (error_code ?? null) as ErrorCode | null,
    error_details: error_details ?? null,
    ...(advice && { hint: advice.hint }),
  }
}

type Run = FailedRecord & Pick<JobRun, 'command'>

/** `name` is the name of the service. Null for a run that has not failed. */
export function adviseOnRun(run: Run, name: string): Advice | null {
  if (!run.error_code) return null
  const again = run.command === null ? `berth run ${name}` : `berth run ${name} -- COMMAND`
  switch (run.error_code) {
    case 'out_of_memory':
      return adviseTo('raise the memory limit', `berth update ${name} --memory 1024`)
    case 'timeout':
      return adviseTo('raise the time limit', `berth update ${name} --job-timeout SECONDS`)
    case 'withdrawn':
      return adviseTo('check the state of the service', `berth show ${name}`)
    case 'image_gone':
      return adviseTo('rebuild the image', `berth deploy ${name}`)
    case 'unresolved_reference':
      return adviseTo('check the variables', `berth env ${name}`)
    default:
      return adviseTo('run it again', again)
  }
}

export function adviseOnDatastore({ error_code: code }: FailedRecord, name: string): Advice | null {
  if (!code) return null
  const restart = `berth db restart ${name}`
  switch (code) {
    case 'port_taken':
      return advise('free a port of --datastore-ports on the server, or give berthd another range')
    case 'insufficient_storage':
      return adviseTo('free disk space on the server, then', restart)
    case 'image_not_found':
      return adviseTo(
        'if there is no such version, delete it and create it with another',
        `berth db rm ${name}`,
      )
    default:
      return adviseTo('Berth restarts it later; restart it now', restart)
  }
}

export function adviseOnBackup(
  backup: FailedRecord & Pick<Backup, 'datastore'> & { service?: string | null; place?: string },
) {
  const { error_code: code, datastore, service, place } = backup
  if (!code) return null
  const again = datastore === null ? `berth disks backup ${service}` : `berth db backup ${datastore}`
  switch (code) {
    case 'insufficient_storage':
      return adviseTo('free disk space on the server, then', again)
    case 'backup_place_failed':
      return adviseSequence(`berth backup-places test ${place}`, again)
    case 'datastore_failed':
      return adviseTo('check the datastore', `berth why ${datastore}`)
    default:
      return adviseTo('try again', again)
  }
}

export function adviseOnServerBackup({ error_code: code, place }: FailedRecord & { place: string }) {
  if (!code) return null
  switch (code) {
    case 'backup_key_missing':
      return adviseTo('make the recovery key, on the server', 'berthd backup-key')
    case 'backup_place_failed':
      return adviseTo('find what the place rejects', `berth backup-places test ${place}`)
    case 'not_found':
      return advise(`add the place ${place} again, or start berthd with another --server-backup-place`)
    case 'backup_failed':
      return adviseTo('check the folder and its disk, on the server', 'berthd doctor')
    default:
      return null
  }
}

/** Null for a restore that has not failed. The datastore keeps its former data. */
export function adviseOnRestore(
  restore: FailedRecord & Pick<Restore, 'datastore'> & { service?: string | null },
) {
  const { error_code: code, datastore, service } = restore
  if (!code || code === 'canceled') return null
  const backups = datastore === null ? `berth disks backups ${service}` : `berth db backups ${datastore}`
  switch (code) {
    case 'damaged_file':
    case 'unsupported_dump':
    case 'not_found':
      return adviseTo('restore another backup of the list', backups)
    case 'insufficient_storage':
      return advise('free disk space on the server, then restore again; manual: /docs/operations#disk-space')
    default:
      if (datastore === null) return adviseTo('restore another backup of the list', backups)
      return adviseTo('check the datastore', `berth why ${datastore}`)
  }
}

type Chown = FailedRecord & Pick<DiskChown, 'disk' | 'owner'>

/** Null for a change of an owner that has not failed. Repeating it is safe. */
export function adviseOnChown(chown: Chown, name: string): Advice | null {
  if (!chown.error_code) return null
  const { owner, disk } = chown
  const hasToBeNumber = ['invalid_request', 'image_gone'].includes(chown.error_code)
  const words = hasToBeNumber ? [disk, 'UID:GID'] : owner === null ? [disk] : [disk, owner]
  return adviseTo('try again', ['berth disks chown', name, ...words].join(' '))
}

export type FailedDeploy = FailedRecord & Pick<Deploy, 'source'>
type Deployed = Pick<Service, 'name' | 'type'> &
  Partial<Pick<Service, 'protocol' | 'submodule_owners' | 'build_env'>>

export function adviseOnDeploy(deploy: FailedDeploy, service: Deployed): Advice | null {
  const { error_code: code } = deploy
  if (!code) return null
  const { name } = service
  if (detailOf(deploy, 'reason', '') === 'disk_owner') return adviseOnDisk(deploy, name)
  switch (code) {
    case 'superseded': {
      const newer = detailOf(deploy, 'deploy_id', 'DEPLOY')
      return adviseTo('follow the newer deploy', `berth logs --deploy ${newer} -f`)
    }
    case 'canceled':
      return adviseTo('deploy again', `berth deploy ${name}`)
    case 'exited_early':
      return adviseStaticSite(deploy, service) ?? retry(deploy, name)
    case 'health_check_failed':
    case 'not_reached':
      return adviseOnCheck(deploy, service)
    case 'out_of_memory':
      return adviseTo('raise the memory limit', `berth update ${name} --memory 1024`)
    default:
      return adviseOnSource(deploy, service) ?? adviseOnServer(code, name) ?? retry(deploy, name)
  }
}

function adviseOnSource(deploy: FailedDeploy, service: Deployed): Advice | null {
  const { name } = service
  switch (deploy.error_code) {
    case 'recipe_not_found':
    case 'dockerfile_not_found':
      return adviseOnDockerfile(deploy, name)
    case 'source_not_found': {
      const branch = detailOf(deploy, 'default_branch', '')
      return branch === ''
        ? null
        : adviseSequence(`berth update ${name} --branch ${branch}`, `berth deploy ${name}`)
    }
    case 'site_not_found':
      return adviseSequence(`berth update ${name} --publish-dir FOLDER`, retryCommand(deploy, name))
    case 'git_remote_unreachable':
      if (detailOf(deploy, 'reason', '') === 'submodule_owner') return adviseOnOwner(deploy, service)
      if (detailOf(deploy, 'reason', '') === 'deploy_key')
        return adviseTo('enter the key of the service at the git server', `berth deploy-key ${name}`)
      return adviseTo('check the address of the source', `berth show ${name}`)
    case 'host_key_changed': {
      const forget = `berth deploy-key ${name} --forget-host`
      const commands = [forget, retryCommand(deploy, name)]
      return advise(`if the git server really has a new key: ${commands.join(', then: ')}`, ...commands)
    }
    case 'too_complex':
      return adviseTo(
        'add a Dockerfile to the source, and build with it',
        `berth update ${name} --builder dockerfile`,
      )
    case 'build_failed':
      return adviseOnBuild(deploy, service)
    default:
      return null
  }
}

function adviseOnDockerfile(deploy: FailedDeploy, name: string): Advice {
  const path = detailOf(deploy, 'dockerfile', '')
  if (path === '') return adviseOnRecipe(deploy, name)
  // A Dockerfile expects to see its own folder, as a rule.
  const at = path.lastIndexOf('/')
  const folder = at === -1 ? "''" : argument(path.slice(0, at), 'FOLDER')
  const update = `berth update ${name} --root-dir ${folder} --dockerfile ${path.slice(at + 1)}`
  return adviseSequence(update, retryCommand(deploy, name))
}

function adviseOnRecipe(deploy: FailedDeploy, name: string): Advice {
  const app = argument(detailOf(deploy, 'app', ''), 'FOLDER')
  if (detailOf(deploy, 'app', '') !== '')
    return adviseSequence(`berth update ${name} --root-dir ${app}`, retryCommand(deploy, name))
  if (detailOf(deploy, 'builder', '') !== '')
    return adviseTo('add one, or build without it', `berth update ${name} --builder recipe`)
  if (deploy.error_code === 'dockerfile_not_found')
    return advise('add one; manual: /docs/sources-and-builds#dockerfiles')
  const program = detailOf(deploy, 'start_command', '')
  if (program !== '')
    return adviseSequence(
      `berth update ${name} --start-command ${argument(program, 'COMMAND')}`,
      retryCommand(deploy, name),
    )
  const start = `berth update ${name} --start-command COMMAND`
  return advise(`add a Dockerfile, or say how it starts: ${start}`, start)
}

/** The option replaces the whole list. */
function adviseOnOwner(deploy: FailedDeploy, { name, submodule_owners = [] }: Deployed): Advice {
  const owners = [...submodule_owners, argument(detailOf(deploy, 'owner', ''), 'OWNER')]
  const options = owners.map((owner) => `--submodule-owner ${owner}`).join(' ')
  const commands = [`berth update ${name} ${options}`, retryCommand(deploy, name)]
  return advise(`if this service may read it: ${commands.join(', then: ')}`, ...commands)
}

/** A path of the source as a word of a shell; the placeholder if it needs quotes. */
function argument(path: string, placeholder: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : placeholder
}

function adviseOnBuild(deploy: FailedDeploy, { name, build_env = [] }: Deployed): Advice | null {
  switch (detailOf(deploy, 'reason', '')) {
    case 'outside_root': {
      const dockerfile = argument(detailOf(deploy, 'dockerfile', ''), 'PATH')
      const update = `berth update ${name} --root-dir '' --dockerfile ${dockerfile}`
      return adviseSequence(update, retryCommand(deploy, name))
    }
    case 'registry_credentials':
      return credentials
    case 'variable': {
      const variable = detailOf(deploy, 'variable', 'KEY')
      const keys = [...new Set([...build_env, variable])].map((key) => `--build-env ${key}`)
      const set = `berth env set ${name} ${variable}=VALUE`
      const commands = [set, `berth update ${name} ${keys.join(' ')}`, retryCommand(deploy, name)]
      return advise(`if the build needs ${variable}: ${commands.join(', then: ')}`, ...commands)
    }
    case 'build_memory':
      return advise('raise --build-memory-limit of berthd, or set it to 0; manual: /docs/limits#builds')
    default:
      return null
  }
}

const credentials = advise('store its credentials: berth registries add HOST', 'berth registries add HOST')

function adviseOnDisk(deploy: FailedDeploy, name: string): Advice {
  const disk = argument(detailOf(deploy, 'disk', ''), 'DISK')
  const chown = `berth disks chown ${name} ${disk} ${detailOf(deploy, 'user', 'OWNER')}`
  return adviseSequence(chown, retryCommand(deploy, name))
}

function adviseOnServer(code: string, name: string): Advice | null {
  switch (code) {
    case 'builder_hangs':
      return advise(
        'restart Docker, which interrupts every service; manual: /docs/limits#a-buildkit-that-hangs',
      )
    case 'unresolved_reference':
      return adviseTo('check the variables', `berth env ${name}`)
    case 'registry_unauthorized':
      return credentials
    case 'image_gone':
      return adviseTo('rebuild the image', `berth deploy ${name}`)
    case 'insufficient_storage':
      return adviseTo('free disk space on the server, then', `berth deploy ${name}`)
    default:
      return null
  }
}

function adviseOnCheck(deploy: FailedDeploy, { name, protocol }: Deployed): Advice {
  const port = detailOf(deploy, 'port', '$PORT')
  switch (detailOf(deploy, 'reason', '')) {
    case 'listens_locally':
      return advise('listen on 0.0.0.0 instead of 127.0.0.1; manual: /docs/deploys#port')
    case 'ipv6_only':
      return advise('listen on 0.0.0.0, or on :: for IPv4 too; manual: /docs/deploys#port')
    case 'wrong_port':
      return adviseSequence(`berth update ${name} --port ${port}`, retryCommand(deploy, name))
    case 'nothing_listens':
      return adviseOnSilence(deploy, name)
    case 'other_protocol':
    case 'invalid_response': {
      const [condition, other] = protocol === 'h2c' ? ['does not speak', 'http'] : ['speaks only', 'h2c']
      const commands = [`berth update ${name} --protocol ${other}`, retryCommand(deploy, name)]
      return advise(`if the app ${condition} HTTP/2: ${commands.join(', then: ')}`, ...commands)
    }
    case 'image_healthcheck':
      return advise(
        'its command must exit with 0 in the running container; manual: /docs/deploys#health-checks',
      )
    default: {
      if (deploy.error_code === 'not_reached') return retry(deploy, name)
      return adviseTo('it must return 2xx or 3xx', `berth update ${name} --health-path PATH`)
    }
  }
}

/** A service's type is fixed, so a worker is another one. */
function adviseOnSilence({ source }: FailedDeploy, name: string): Advice {
  const update = `berth update ${name} --port N`
  const from = { git: ' --repo URL', image: ` --image ${source.image}`, archive: '', reuse: '' }[source.kind]
  const create = `berth create ${name}-worker --type background_worker${from}`
  return advise(`listen on 0.0.0.0:$PORT, or: ${update}; if it serves nothing: ${create}`, update, create)
}

/** What only builds pages exits early. A service's type is fixed, so a new one is needed. */
function adviseStaticSite({ source }: FailedDeploy, { name, type }: Deployed): Advice | null {
  if (type !== 'web_service') return null
  const site = `${name}-site`
  const create = `berth create ${site} --type static_site --publish-dir FOLDER`
  const condition =
    'have its command keep running; if its build only makes pages, serve the FOLDER that has them: '
  if (source.kind === 'archive') {
    const upload = `berth up ${site}`
    return advise(`${condition}${create}, then: ${upload}`, create, upload)
  }
  return source.kind === 'git' ? advise(`${condition}${create} --repo URL`, `${create} --repo URL`) : null
}

function retry(deploy: FailedDeploy, name: string): Advice {
  return adviseTo(`${remedyFor(deploy)}, then`, retryCommand(deploy, name))
}

function remedyFor(deploy: FailedDeploy): string {
  const code = deploy.error_code as ErrorCode
  const step = detailOf(deploy, 'step', '')
  const cause = causes[detailOf(deploy, 'reason', '')]
  if (cause !== undefined) return cause
  if (step.includes('load metadata for ')) {
    return detailOf(deploy, 'builder', '') === 'recipe'
      ? 'check the version that the source asks for, as the log says'
      : 'check the base image of the Dockerfile (FROM)'
  }
  if (code === 'build_failed' && step !== '') return `fix the step ${step}`
  return remedies[code] ?? 'fix what the error names'
}

const checkImage = 'check the name of the image (berth show) and its registry'
const waitForRegistry = 'wait until its registry responds'

/** What the output of a failed build step showed. */
const causes: Record<string, string> = {
  ignored_builds:
    'allow the install scripts that it names (pnpm approve-builds), and commit what that writes',
  lock_file: 'the lock file does not fit the manifest: install on your machine, and commit the new one',
  node_heap: 'let Node.js use more memory (--build-arg NODE_OPTIONS=--max-old-space-size=4096)',
  node_openssl: 'its tools want Node.js 16: update them, or set engines.node to "16" in package.json',
  node_version: 'request a version of Node.js that fits, in engines.node of package.json or in .nvmrc',
  package_refused: 'check the name of the package, or set the token that .npmrc names (berth env set)',
  peer_conflict: 'make the versions in package.json compatible, or put legacy-peer-deps=true in .npmrc',
  registry_unreachable: waitForRegistry,
  ssh_dependency: 'a build has no SSH keys: give the dependency its https URL',
  version_missing: 'request a version that the registry has',
}

/** What to change before the next attempt. */
const remedies: Partial<Record<ErrorCode, string>> = {
  archive_invalid: 'exclude that entry in .berthignore, or pack the folder again',
  build_failed: 'fix what the error or its last lines show',
  build_timeout: 'make the build faster, or raise --build-timeout of berthd',
  docker_error: 'check the Docker engine of the server',
  docker_unavailable: 'start the Docker engine of the server',
  edge_unavailable: 'check the edge (berth edge)',
  exited_early: 'have its command keep running',
  image_not_found: checkImage,
  instance_failed: 'fix the error in its last lines',
  not_reached: 'check what the app answers to that request',
  pre_deploy_failed: 'fix the pre-deploy command, or what its last lines show',
  pull_failed: checkImage,
  registry_rate_limited: waitForRegistry,
  registry_unreachable: waitForRegistry,
  source_not_found: 'correct the branch, tag, commit or folder that is missing',
  timeout: 'raise that limit, or make the phase faster',
}

function retryCommand({ source }: FailedDeploy, name: string): string {
  return `berth ${source.kind === 'archive' ? 'up' : 'deploy'} ${name}`
}

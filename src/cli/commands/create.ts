// `berth create`: creates a service from flags. On a terminal, prompts ask for missing values.
import type { EnvVar } from '../../api/env.ts'
import type { GitBranches, GitConnection, GitRepositories } from '../../api/git-connection.ts'
import type { Service } from '../../api/service.ts'
import { dataPathOf } from '../../domain/stateful-images.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { orNull } from '../failure.ts'
import { followUp, printDone, printNext } from '../follow-up.ts'
import { createNamed } from '../service/creation.ts'
import { parseAssignments, readEnvFile, warnOfVariables } from '../service/env-file.ts'
import { addSettingFlags, collect, parsedSettings } from '../service/setting-flags.ts'
import { plain } from '../terminal/output.ts'
import { askText, type Choice, confirm, pick, search } from '../terminal/prompts.ts'

interface CreateOptions {
  type?: string
  keptDisk?: string
  env?: string[]
  envFile?: string
  deploy: boolean
  follow: boolean
}

export function addCreateCommand(program: BerthCommand): void {
  const command = program
    .command('create')
    .argument('[name]', 'the new name')
    .description('create a service and deploy it; prompts for missing values')
    .option('--type <type>', 'web_service, private_service, background_worker, cron_job or static_site')
  addSettingFlags(command)
    .option(
      '--kept-disk <name>',
      "a disk of `berth disks`; by default the one that a former service of this name left; '' for a new one",
    )
    .option('--env <KEY=value>', 'a variable; can be repeated; for secrets use --env-file', collect)
    .option('--env-file <file>', 'a file of KEY=value lines; - is stdin')
    .option('--no-deploy', 'only create it')
    .option('--no-follow', 'do not wait for its first deploy')
    .examples(
      'berth create',
      'berth create shop --repo https://example.com/shop.git --env-file .env',
      'berth create web --image ghcr.io/ada/web:v1 --port 8080 --instances 2',
      'berth create blog --type static_site --publish-dir public   # then: berth up blog',
      "berth create nightly --schedule '0 3 * * *' --image ghcr.io/ada/web:v1 --start-command ./nightly",
    )
    .runs(createService)
}

async function createService(cli: Cli, name: string | undefined, options: CreateOptions): Promise<number> {
  const { out } = cli
  const { deploy, follow } = options
  const settings = parsedSettings({ ...options })
  // Only cron jobs have a schedule.
  const type = options.type ?? (settings.schedule ? 'cron_job' : undefined)
  const env = await readEnv(cli, options)
  const hasSource = 'repo_url' in settings || 'image' in settings || type === 'static_site'
  const chosen = name ?? (await askName(cli))
  const answers = hasSource || !out.canAsk ? {} : await askSource(cli)
  const disk = await offerDisk(cli, { ...settings, ...answers, type })
  const isUnscheduled = type === 'cron_job' && !settings.schedule
  const schedule = isUnscheduled ? { schedule: await askSchedule(cli) } : {}
  const body = {
    name: chosen,
    ...(type ? { type } : {}),
    ...settings,
    ...answers,
    ...disk,
    ...schedule,
    kept_disk: options.keptDisk,
    env,
    deploy,
  }
  const service = await createNamed(cli, body)
  if (out.isJson) out.json(service)
  else printDone(cli, `${service.name} was created`)
  if (!out.isJson) sayAutoDeploy(cli, service)
  if (env.length > 0 && !out.isJson) await orNull(warnOfVariables(cli, service.name, { set: env }))
  const first = service.latest_deploy
  if (first && follow) return followUp(cli, first, true)
  printNext(cli, first ? `berth logs --deploy ${first.id} -f` : deployCommand(service))
  return 0
}

function sayAutoDeploy({ out }: Cli, { name, repo_url, auto_deploy, branch, tag_pattern }: Service): void {
  if (repo_url === null || !auto_deploy) return
  const pushes = tag_pattern ? `tags ${tag_pattern}` : `pushes to ${branch ?? 'its default branch'}`
  out.say(`   ${plain(pushes)} are deployed; berth update ${name} --auto-deploy off stops that`)
}

function deployCommand({ name, repo_url, image }: Service): string {
  return repo_url || image ? `berth deploy ${name}` : `berth up ${name}`
}

async function readEnv(cli: Cli, { env = [], envFile }: CreateOptions): Promise<EnvVar[]> {
  const fromFile = envFile === undefined ? [] : await readEnvFile(cli, envFile)
  const named = await parseAssignments(cli, env)
  const isNamed = new Set(named.map(({ key }) => key))
  return [...fromFile.filter(({ key }) => !isNamed.has(key)), ...named]
}

async function askSource(cli: Cli): Promise<Record<string, string>> {
  const instead = 'name its source: --repo or --image, or upload a folder with `berth up`'
  const kind = await pick(cli, {
    message: 'Where does the source come from?',
    instead,
    choices: [
      { value: 'upload', label: 'a folder here', hint: 'berth up uploads it' },
      { value: 'repo_url', label: 'a git repository', hint: 'with a Dockerfile' },
      { value: 'image', label: 'an image' },
    ],
  })
  if (kind === 'upload') return {}
  if (kind === 'image') return { image: await askSourceAddress(cli, 'image', instead) }
  return chooseRepository(cli, instead)
}

// The questions of `berth create`. The server checks the answers, which are not empty.

function askName(cli: Cli): Promise<string> {
  return askText(cli, {
    message: 'What is the service called?',
    placeholder: 'shop',
    instead: 'give a name: berth create NAME',
  })
}

function askSourceAddress(cli: Cli, kind: 'image' | 'repo_url', instead: string): Promise<string> {
  return askText(cli, {
    message: kind === 'image' ? 'Which image?' : 'What is its address?',
    placeholder: kind === 'image' ? 'ghcr.io/ada/web:v1' : 'https://example.com/shop.git',
    instead,
  })
}

function askSchedule(cli: Cli): Promise<string> {
  return askText(cli, {
    message: 'When does it run? Five fields of cron, in UTC',
    placeholder: '0 3 * * *',
    instead: "set --schedule '0 3 * * *'",
  })
}

interface Choices {
  image?: unknown
  type?: string | undefined
  /** Null refuses a disk. */
  disk_mount_path?: unknown
  instances?: unknown
}

/** The setting of the disk; empty without one. Without a terminal it only warns. */
async function offerDisk(cli: Cli, chosen: Choices): Promise<{ disk_mount_path?: string }> {
  const path = typeof chosen.image === 'string' ? dataPathOf(chosen.image) : null
  const isDecided = chosen.disk_mount_path !== undefined || chosen.type === 'cron_job'
  if (path === null || isDecided || Number(chosen.instances ?? 1) > 1) return {}
  const { out } = cli
  if (!out.canAsk) {
    out.say(
      ` ${out.tint('yellow', '!')} this image keeps its data in ${path}: --disk ${path} gives that a disk`,
    )
    return {}
  }
  const message = `This image keeps its data in ${path}. A disk for it? (one instance, short gaps)`
  const isWanted = await confirm(cli, { message, instead: `--disk ${path}, or --disk '' for none` }, true)
  return isWanted ? { disk_mount_path: path } : {}
}

/** A choice that no address equals. */
const typed = ''

/** The repository, and the branch if it was chosen from a list. */
async function chooseRepository(cli: Cli, instead: string): Promise<Record<string, string>> {
  const connections = await orNull(cli.client.call<GitConnection[]>('GET', '/git/connections'))
  const usable = (connections ?? []).filter(({ status }) => status === 'connected')
  const account = usable.length === 0 ? null : await chooseAccount(cli, usable, instead)
  const repo_url = account === null ? typed : await chooseFrom(cli, account, instead)
  if (repo_url === typed) return { repo_url: await askSourceAddress(cli, 'repo_url', instead) }
  const branch = await chooseBranch(cli, repo_url, instead)
  return { repo_url, ...(branch === null ? {} : { branch }) }
}

/** The only account is not asked for. */
async function chooseAccount(cli: Cli, accounts: GitConnection[], instead: string): Promise<GitConnection> {
  const [only, ...others] = accounts
  if (others.length === 0) return only!
  const choices = accounts.map(({ id, account, base_url }) => ({
    value: id,
    label: account ?? id,
    hint: base_url,
  }))
  const id = await pick(cli, { message: 'Which account?', instead, choices })
  return accounts.find((one) => one.id === id)!
}

async function chooseFrom(cli: Cli, { id }: GitConnection, instead: string): Promise<string> {
  const path = `/git/connections/${encodeURIComponent(id)}/repositories`
  const listed = await orNull(cli.client.call<GitRepositories>('GET', path))
  const repositories = (listed?.repositories ?? []).filter(({ archived }) => !archived)
  if (repositories.length === 0) return typed
  const choices = repositories.map(
    ({ clone_url, full_name, private: isPrivate }): Choice => ({
      value: clone_url,
      label: full_name,
      ...(isPrivate ? { hint: 'private' } : {}),
    }),
  )
  const other = { value: typed, label: 'another repository', hint: 'type its address' }
  return search(cli, { message: 'Which repository?', instead, choices: [...choices, other] })
}

/** Null for the default branch: the service then keeps the name that the first deploy finds. */
async function chooseBranch(cli: Cli, repoUrl: string, instead: string): Promise<string | null> {
  const found = await orNull(
    cli.client.call<GitBranches>('GET', `/git/branches?repo_url=${encodeURIComponent(repoUrl)}`),
  )
  const branches = found?.branches ?? []
  if (branches.length < 2) return null
  const choices = branches.map(
    (name): Choice => ({
      value: name,
      label: name,
      ...(name === found?.default_branch ? { hint: 'default' } : {}),
    }),
  )
  return search(cli, { message: 'Which branch?', instead, choices })
}

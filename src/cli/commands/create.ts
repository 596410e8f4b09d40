// `berth create`: creates a service from flags. On a terminal, prompts ask for missing values.
import type { EnvVar } from '../../api/env.ts'
import type { Service } from '../../api/service.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { followUp, printDone, printNext } from '../follow-up.ts'
import { parseAssignments, readEnvFile } from '../service/env-file.ts'
import {
  askName,
  askSchedule,
  askSourceAddress,
  assertServiceName,
  chooseRepository,
  offerDisk,
} from '../service/questions.ts'
import { addSettingFlags, collect, parsedSettings } from '../service/setting-flags.ts'
import { pick } from '../terminal/prompts.ts'

interface CreateOptions {
  type?: string
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
  const { client, out } = cli
  const { deploy, follow } = options
  const settings = parsedSettings({ ...options })
  // Only cron jobs have a schedule.
  const type = options.type ?? (settings.schedule ? 'cron_job' : undefined)
  const env = await readEnv(cli, options)
  const hasSource = 'repo_url' in settings || 'image' in settings || type === 'static_site'
  if (name !== undefined && out.canAsk) assertServiceName(name)
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
    env,
    deploy,
  }
  const service = await client.call<Service>('POST', '/services', { body })
  if (out.isJson) out.json(service)
  else printDone(cli, `${service.name} was created`)
  const first = service.latest_deploy
  if (first && follow) return followUp(cli, first, true)
  printNext(cli, first ? `berth logs --deploy ${first.id} -f` : deployCommand(service))
  return 0
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

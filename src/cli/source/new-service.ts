// The service that `berth up` creates for a new folder: its name and its type.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Service } from '../../api/service.ts'
import { findDockerfiles } from '../../domain/dockerfiles.ts'
import { suggestDockerfile } from '../../domain/starter-dockerfile.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, interruption, usageFailure, withResumeHint } from '../failure.ts'
import { readable } from '../service/labels.ts'
import { plain } from '../terminal/output.ts'
import { phaseLine } from '../terminal/phase-line.ts'
import { confirm } from '../terminal/prompts.ts'
import type { Source } from './source-entries.ts'

export interface Guess {
  type: string
  publishDir: string | null
  reason: string
}

const maxNameChars = 40
const siteFolders = ['public', 'dist', 'build', '_site', 'out']

/** Throws a usage failure for a folder name without a usable character. */
export function toServiceName(folder: string): string {
  const name = serviceNameOf(folder)
  if (name !== null) return name
  throw usageFailure(`the name of ${folder} cannot be a service name`, 'give a name: berth up NAME')
}

/** The service name of a folder; null when the folder name has no usable character. */
export function serviceNameOf(folder: string): string | null {
  const letters = basename(folder)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
  const name = letters
    .replace(/^[^a-z]+/, '')
    .slice(0, maxNameChars)
    .replace(/-+$/, '')
  return name || null
}

/** From a Dockerfile, otherwise an index.html. Throws CliFailure if there is neither and no type is given. */
export function guessService(source: Source, type: string | undefined): Guess {
  const files = new Set(source.entries.map(({ path }) => path))
  if (type !== 'static_site' && files.has('Dockerfile')) {
    return { type: type ?? 'web_service', publishDir: null, reason: 'built by its Dockerfile' }
  }
  if (type && type !== 'static_site') return { type, publishDir: null, reason: 'as requested' }
  const site = ['', ...siteFolders].find((folder) => files.has(join(folder, 'index.html')))
  if (site === undefined && type) return { type, publishDir: null, reason: 'as requested' }
  if (site === undefined) throw undetectedType(source)
  const reason = site === '' ? 'its pages are at the top' : `its pages are in ${site}/`
  return { type: 'static_site', publishDir: site || null, reason }
}

/** A folder that is missing only a Dockerfile. */
export class NoDockerfile extends CliFailure {}

function undetectedType({ folder }: Source): CliFailure {
  const ignored = siteFolders.find((name) => existsSync(join(folder, name, 'index.html')))
  const problem = `${folder} has neither a Dockerfile nor an index.html`
  if (!ignored) {
    return new NoDockerfile(problem, { hint: 'add a Dockerfile, or set --type static_site' })
  }
  const hint = `there is one in ${ignored}/, which is ignored: write !${ignored} into .berthignore`
  return new CliFailure(problem, { hint })
}

/** Prompts for confirmation at a terminal. Without a terminal the service is created without a prompt. */
export async function approve(cli: Cli, name: string, { type, reason }: Guess): Promise<void> {
  if (!cli.out.canAsk) return
  const message = plain(`Create ${name}, a ${readable(type)}, ${reason}?`)
  if (await confirm(cli, { message, instead: 'confirm with --yes' }, true)) return
  throw interruption('nothing was created', 'another name: berth up NAME; another type: --type TYPE')
}

export async function createForUpload(cli: Cli, name: string, guess: Guess): Promise<Service> {
  const { type, publishDir, reason } = guess
  const body = { name, type, ...(publishDir ? { publish_dir: publishDir } : {}) }
  const startedAt = Date.now()
  const service = await cli.client.call<Service>('POST', '/services', { body }).catch((error: unknown) => {
    throw withResumeHint(error, `nothing was uploaded; to continue: berth up ${name}`)
  })
  const line = { mark: '✔', name: 'creating', detail: `${name}, a ${readable(type)}, ${reason}` }
  if (!cli.out.isJson) cli.out.say(phaseLine(cli.out, { ...line, durationMs: Date.now() - startedAt }))
  return service
}

/** Shows the Dockerfile; returns whether it was written. */
export async function offerDockerfile(cli: Cli, folder: string): Promise<boolean> {
  const { out } = cli
  if (out.isJson) return false
  const { kind, dockerfile, notes } = await suggestDockerfile(folder)
  if (dockerfile.length === 0 || (await findDockerfiles(folder)).length > 0) return false
  out.say(`   there is no Dockerfile. This looks like ${kind}; here is one to start from:`)
  for (const line of dockerfile) out.say(plain(`     ${line}`))
  for (const note of notes) out.say(plain(`   ${note}`))
  if (!out.canAsk) return false
  const path = join(folder, 'Dockerfile')
  const message = plain(`Write it to ${path} and deploy?`)
  if (!(await confirm(cli, { message, instead: 'write one yourself' }, true))) return false
  await writeFile(path, `${dockerfile.join('\n')}\n`, { flag: 'wx' })
  return true
}

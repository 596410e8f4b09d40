// The service or deploy of a read-only command: the named one, else that of the folder. Commands that change
// a service use config/project.ts, because a folder may happen to have a service's name.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Deploy } from '../../api/deploy.ts'
import { deployPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { findProject, whichService } from '../config/project.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { plain } from '../terminal/output.ts'
import { findService } from './creation.ts'

/** `.`, `./shop`, `/srv/shop`: a path. No service name looks like this. */
export function isFolderPath(text: string): boolean {
  return /^\.{1,2}$|\//.test(text)
}

/** The given name, or the service that `berth up` uses for the folder. Throws a usage failure without one. */
export async function resolveService(cli: Cli, nameOrFolder: string | undefined): Promise<string> {
  if (nameOrFolder !== undefined && !isFolderPath(nameOrFolder)) return nameOrFolder
  const folder = resolve(cli.cwd, nameOrFolder ?? '.')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageFailure(`${plain(folder)} is not a folder`, 'name a service: berth services lists them')
  }
  const project = findProject(folder)?.service
  if (project) return project
  const { serviceNameOf } = await import('../source/new-service.ts')
  const name = serviceNameOf(folder)
  if (name === null) throw whichService()
  if (await findService(cli, name)) return name
  throw whichService(`no service is called ${name}, like this folder`)
}

/** By default the newest deploy of this folder's service. Throws CliFailure without a deploy. */
export async function resolveDeploy(cli: Cli, idOrName: string | undefined): Promise<Deploy> {
  const { client } = cli
  if (idOrName?.startsWith('dep-')) return client.call<Deploy>('GET', deployPath(idOrName))
  if (idOrName?.startsWith('job-')) {
    throw usageFailure(
      'that id belongs to a job run, not a deploy',
      `show its log: berth logs --job ${idOrName}`,
    )
  }
  const name = await resolveService(cli, idOrName)
  const path = `${servicePath(name)}/deploys`
  const [newest] = await client.call<Deploy[]>('GET', path, { query: { limit: 1 } })
  if (newest) return newest
  throw new CliFailure(`${name} was never deployed`, {
    exitCode: exitCodes.notFound,
    hint: `berth deploy ${name}, or berth up ${name} in its folder`,
  })
}

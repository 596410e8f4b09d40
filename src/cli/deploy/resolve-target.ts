// Resolves the deploy: by its id, or the newest of a service.
import type { Deploy } from '../../api/deploy.ts'
import { deployPath, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { resolveService } from '../service/resolve-target.ts'

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

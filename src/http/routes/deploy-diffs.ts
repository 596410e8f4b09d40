// What differs between deploys, for readers who are about to deploy or to roll back.
import type { ServiceRow } from '../../../storage/services.ts'
import { type Deploy, DeployParams } from '../../api/deploy.ts'
import { DeployDiff, DeployDiffQuery } from '../../api/deploy-diff.ts'
import { notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type CallById, get, tagged } from '../pipeline/route.ts'
import { compareVersions, savedVersion, versionOf } from '../records/deploy-diff.ts'
import { findDeploy } from '../records/deploy-record.ts'
import { findService } from '../records/service-record.ts'
import { findAnyObstacle } from '../rules/rollback.ts'

export const deployDiffRoutes = tagged('Deploys', [
  get('/deploys/{deploy_id}/diff', {
    role: 'read',
    scope: 'record',
    summary: 'Compares a deploy with another one, or with what is saved, and says if it can run again',
    description:
      'What differs between the deploy (`to`) and another one, or what is saved (`from`): commit, image, ' +
      'settings, and variables by key. And whether a rollback to the deploy would be refused.',
    params: DeployParams,
    query: DeployDiffQuery,
    response: DeployDiff,
    handler: compareDeploy,
  }),
])

async function compareDeploy({ context, params, query }: CallById<DeployDiffQuery>): Promise<DeployDiff> {
  const { storage } = context
  const deploy = findDeploy(storage, params.id)
  const row = findService(storage, deploy.service_id)
  const to = versionOf(storage, row, deploy)
  const obstacle = await findAnyObstacle(context, row, deploy)
  if (query.against === 'saved') {
    const compared = compareVersions(savedVersion(storage, row), to)
    return { against: 'saved', obstacle, commit: null, image: null, ...compared }
  }
  const id = query.against === 'live' ? row.live_deploy_id : query.against
  if (id === null) return { against: null, obstacle, commit: null, image: null, ...compareVersions(null, to) }
  const other = findOther(context, row, id)
  return {
    against: other.id,
    obstacle,
    commit: compareCommits(context, other, deploy),
    image: differing(other.source.image, deploy.source.image),
    ...compareVersions(versionOf(storage, row, other), to),
  }
}

/** A token that is limited to the service must not learn of deploys elsewhere. */
function findOther({ storage }: HttpContext, row: ServiceRow, id: string): Deploy {
  const other = findDeploy(storage, id)
  if (other.service_id === row.id) return other
  throw notFound(`${row.name} has no such deploy`, `berth deploys ${row.name} lists them`)
}

function compareCommits({ git }: HttpContext, from: Deploy, to: Deploy): DeployDiff['commit'] {
  const shas = differing(from.commit_sha, to.commit_sha)
  if (!shas) return null
  const repository = from.source.repo_url === to.source.repo_url ? to.source.repo_url : null
  const isKnown = repository && shas.from && shas.to
  return { ...shas, compare_url: isKnown ? git.compareUrl(repository, shas.from!, shas.to!) : null }
}

function differing(from: string | null, to: string | null) {
  return from === to ? null : { from, to }
}

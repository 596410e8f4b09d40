// The API with one service whose versions differ: each deploy has a release of what was saved then.
import type { TestContext } from 'node:test'
import type { Deploy } from '../../../src/api/deploy.ts'
import type { DeployDiff } from '../../../src/api/deploy-diff.ts'
import { settingsOf } from '../../../src/domain/service-settings.ts'
import { startChecked } from './checked-api.ts'

export async function startVersions(t: TestContext) {
  const api = await startChecked(t)
  const { id: serviceId } = await api.create({
    name: 'web',
    repo_url: 'https://github.com/owner/name.git',
    deploy: false,
  })
  /** A live deploy of what is saved now. */
  const deployed = async (fields: Partial<Deploy> = {}): Promise<string> => {
    const { body } = await api.call('POST', '/services/web/deploys')
    const id = body.id as string
    const { releases, services, env } = api.storage
    await releases.freeze(id, () => ({
      settings: settingsOf(services.get('web')!),
      env: env.get(serviceId),
      resolved: null,
    }))
    await api.setDeploy(id, { status: 'live', image: `berth/web:${id}`, ...fields })
    return id
  }
  const setEnv = (set: Record<string, string>, unset: string[] = []) =>
    api.call('PATCH', '/services/web/env', {
      set: Object.entries(set).map(([key, value]) => ({ key, value })),
      unset,
    })
  const diff = async (id: string, against = '') =>
    (await api.call('GET', `/deploys/${id}/diff${against && `?against=${against}`}`))
      .body as unknown as DeployDiff
  return { ...api, deployed, setEnv, diff }
}

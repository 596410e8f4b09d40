// What differs between two deploys, or between a deploy and what is saved. Values of variables are secrets:
// they are compared in constant time, and only keys leave this file.
import { isDeepStrictEqual } from 'node:util'
import type { EnvVar } from '../../../storage/env.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow, ServiceSettings } from '../../../storage/services.ts'
import { hashOf, matchesHash } from '../../account/secrets.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { DeployDiff } from '../../api/deploy-diff.ts'
import { type SettingName, serviceSettings, settingNames, settingsOf } from '../../domain/service-settings.ts'

/** What a deploy runs with. */
interface Version {
  settings: ServiceSettings
  env: EnvVar[]
}

type Compared = Pick<DeployDiff, 'complete' | 'settings' | 'env'>

/** More restarts in a row than the records of a service. */
const maxReused = 1000

const versioned = settingNames.filter((name) => serviceSettings[name].takesEffect !== 'immediately')
const ofBuild = versioned.filter((name) => serviceSettings[name].takesEffect === 'at build')

export function savedVersion({ env }: Pick<Storage, 'env'>, row: ServiceRow): Version {
  return { settings: settingsOf(row), env: env.get(row.id) }
}

/** Null when its release is gone, and for a rollback that waits for its turn. */
export function versionOf(storage: Storage, row: ServiceRow, deploy: Deploy): Version | null {
  const release = storage.releases.get(deploy.id)
  if (!release) {
    const readsSaved = deploy.status === 'queued' && deploy.trigger !== 'rollback'
    return readsSaved ? savedVersion(storage, row) : null
  }
  const { settings: built } = storage.releases.get(builderOf(storage, deploy).id) ?? release
  const ownBuild = Object.fromEntries(ofBuild.map((name) => [name, settingIn(built, name)]))
  const branch = deploy.source.branch ?? release.settings.branch
  return { settings: { ...release.settings, ...ownBuild, branch }, env: release.env }
}

/** The deploy that made the image. A restart freezes the current settings, but builds nothing. */
function builderOf({ actors }: Pick<Storage, 'actors'>, deploy: Deploy): Deploy {
  let builder = deploy
  for (let reused = 0; reused < maxReused; reused++) {
    const { kind, deploy_id } = builder.source
    const former = kind === 'reuse' && deploy_id ? (actors.record(deploy_id) as Deploy | null) : null
    if (!former) return builder
    builder = former
  }
  return builder
}

export function compareVersions(from: Version | null, to: Version | null): Compared {
  if (!from || !to) return { complete: false, settings: [], env: { added: [], changed: [], removed: [] } }
  const settings = versioned.flatMap((field) => {
    const values = { from: settingIn(from.settings, field), to: settingIn(to.settings, field) }
    return isDeepStrictEqual(values.from, values.to) ? [] : [{ field, ...values }]
  })
  return { complete: true, settings, env: compareKeys(from.env, to.env) }
}

type Value = DeployDiff['settings'][number]['from']

/** Settings that are newer than the release have their default, which is how it behaves. */
function settingIn(settings: ServiceSettings, name: SettingName): Value {
  const stored = (settings as Partial<Record<SettingName, Value>>)[name]
  return stored ?? serviceSettings[name].default
}

function compareKeys(from: readonly EnvVar[], to: readonly EnvVar[]): DeployDiff['env'] {
  const before = new Map(from.map(({ key, value }) => [key, value]))
  const after = new Set(to.map(({ key }) => key))
  const isChanged = ({ key, value }: EnvVar) => {
    const former = before.get(key)
    return former !== undefined && !matchesHash(value, hashOf(former))
  }
  const keysOf = (vars: readonly EnvVar[]) => vars.map(({ key }) => key).sort()
  return {
    added: keysOf(to.filter(({ key }) => !before.has(key))),
    changed: keysOf(to.filter(isChanged)),
    removed: keysOf(from.filter(({ key }) => !after.has(key))),
  }
}

// Writes berth.yaml: from what a server runs, and from what an import found.
import { isDeepStrictEqual } from 'node:util'
import { stringify } from 'yaml'
import type { Datastore } from '../api/datastore.ts'
import { referencesIn } from '../domain/env-references.ts'
import { settingNames } from '../domain/service-settings.ts'
import type { BlueprintFile, FileService } from './blueprint.ts'
import { type RunningService, type ServerState, unsetValue } from './plan.ts'

const heading = `# yaml-language-server: $schema=berth.schema.json
# For an editor: berth schema > berth.schema.json
`

/** Sections and fields without content are left out. */
export function printBlueprint(file: BlueprintFile): string {
  return heading + stringify(withoutEmpty(file), { lineWidth: 0 })
}

/**
 * Values of variables stay on the server, unless they are a reference and nothing else: then they are not
 * secret. With `showValues` the file has all of them.
 */
export function exportBlueprint(
  { services, datastores }: ServerState,
  { showValues = false }: { showValues?: boolean } = {},
): BlueprintFile {
  const entries = (list: RunningService[]) =>
    Object.fromEntries(list.map((service) => [service.name, toFileService(service, showValues)]))
  const isJob = ({ type }: RunningService) => type === 'cron_job'
  return withoutEmpty({
    services: entries(services.filter((service) => !isJob(service))),
    jobs: entries(services.filter(isJob)),
    datastores: Object.fromEntries(
      datastores.map((datastore) => [datastore.name, toFileDatastore(datastore)]),
    ),
  })
}

function toFileService(service: RunningService, showValues: boolean): FileService {
  const { type, env, domains } = service
  const named = settingNames.filter(
    (key) => key !== 'custom_domains' && !isDeepStrictEqual(service[key], unsetValue(key, service)),
  )
  const shown = env.filter(({ value }) => showValues || isReference(value))
  return {
    ...(type === 'cron_job' ? {} : { type }),
    ...Object.fromEntries(named.map((key) => [key, service[key]])),
    env: Object.fromEntries(shown.map(({ key, value }) => [key, value])),
    secrets: env.filter((one) => !shown.includes(one)).map(({ key }) => key),
    domains: domains.map(({ domain, redirect_to }) => (redirect_to ? { domain, redirect_to } : domain)),
  }
}

function isReference(value: string): boolean {
  return /^\$\{\{[^{}]*\}\}$/.test(value) && referencesIn(value)[0] !== null
}

function toFileDatastore({ name, kind, version, database, username, ...datastore }: Datastore) {
  const { memory_limit_mb, cpu_limit, backup_schedule, backup_keep, backup_keep_days } = datastore
  const { backup_place, shared_network } = datastore
  const named = kind === 'redis' || database === name.replaceAll('-', '_') ? {} : { database }
  const owned = kind === 'redis' || username === database ? {} : { username }
  const kept = backup_schedule === null ? {} : { backup_schedule, backup_keep, backup_keep_days }
  const shared = shared_network ? { shared_network } : {}
  return { kind, version, ...named, ...owned, memory_limit_mb, cpu_limit, ...kept, backup_place, ...shared }
}

/** Without null, empty lists and empty maps, at any depth but that of the names. */
function withoutEmpty(file: BlueprintFile): BlueprintFile {
  const isEmpty = (value: unknown) =>
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
  const strip = (value: object) =>
    Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one)))
  const sections = Object.entries(file).map(([section, entries]) => [
    section,
    Object.fromEntries(Object.entries(entries ?? {}).map(([name, entry]) => [name, strip(entry)])),
  ])
  return strip(Object.fromEntries(sections))
}

// Services: the desired state that deploys read again and again. Field names are the API's.
// A deploy's own transaction writes `live_deploy_id` and `desired_deploy_id`, a handler never does.
import { Domains } from './domains.ts'
import type { StoredEvents } from './events.ts'
import { StorageError } from './store/errors.ts'
import type { Names } from './store/names.ts'
import type { Commit, Store, Table } from './store/store.ts'

export type ServiceType = 'web_service' | 'private_service' | 'background_worker' | 'cron_job' | 'static_site'

/** What a person sets, and what a deploy freezes when it starts. */
export interface ServiceSettings {
  type: ServiceType
  repo_url: string | null
  branch: string | null
  image: string | null
  root_dir: string | null
  dockerfile_path: string | null
  build_command: string | null
  start_command: string | null
  publish_dir: string | null
  spa_fallback: boolean
  pre_deploy_command: string | null
  /** Keys of env variables that a build gets as arguments. */
  build_env: string[]
  /** Missing in rows and releases that are older than it, as are the two that follow. */
  build_target?: string | null
  build_args?: Record<string, string>
  /** Whether instances and jobs have an init process; missing is true. */
  init?: boolean
  port: number | null
  health_check_path: string | null
  health_check_timeout_seconds: number
  drain_seconds: number
  schedule: string | null
  timezone: string | null
  overlap: 'skip' | 'queue' | 'replace' | null
  timeout_seconds: number | null
  instances: number
  auto_deploy: boolean
  watch_paths: string[]
  suspended: boolean
  disk_mount_path: string | null
  memory_limit_mb: number | null
  cpu_limit: number | null
  /** In normal form; each belongs to one service at most. */
  custom_domains: string[]
  hsts: boolean
  /** How long an answer may stay silent. */
  request_timeout_seconds: number
  /** MiB of a request's body. */
  max_body_mb: number
}

/** Settings that came with schema 2: what held before there was such a thing. */
export const settingsOfSchema2 = { spa_fallback: false, pre_deploy_command: null, build_env: [] }

/** Those of schema 3. */
export const settingsOfSchema3 = { hsts: false, request_timeout_seconds: 75, max_body_mb: 512 }

export interface ServiceRow extends ServiceSettings {
  id: string
  name: string
  live_deploy_id: string | null
  desired_deploy_id: string | null
  /** Whether every service may connect to it; missing from rows that are older than the setting. */
  shared_network?: boolean
  /** The deploy that brought the archive which is kept; null when there is none that could be deployed. */
  archive_deploy_id: string | null
  /** Whether `branch` is the default branch of the remote; missing when a user set it. */
  branch_learnt?: boolean
  /** That of the archive to go back to should it turn out broken; null once it has been unpacked. */
  former_archive_deploy_id?: string | null
  degraded: boolean
  deleting: boolean
  created_at: string
  updated_at: string
  revision: number
}

/** What an actor's transition may write of its service, in the same transaction. */
export interface ServicePatch {
  live_deploy_id?: string | null
  desired_deploy_id?: string | null
  degraded?: boolean
  deleting?: boolean
  /** Written only while this deploy is the live one: a late report of a former one changes nothing. */
  while_live?: string
}

type ArchivePatch = Partial<Pick<ServiceRow, 'archive_deploy_id' | 'former_archive_deploy_id'>>

export interface WriteOptions {
  /** Writes that belong to the same transaction (env, credentials). */
  also?: () => void
  /** The request's id and the answer a repetition gets. */
  event?: { id: string; answer: unknown }
}

export class Services {
  readonly #store: Store
  readonly #events: StoredEvents
  readonly #rows: Table<ServiceRow>
  readonly #names: Names
  readonly #domains: Domains

  constructor(store: Store, events: StoredEvents, names: Names) {
    this.#store = store
    this.#events = events
    this.#rows = store.table('services')
    this.#names = names
    this.#domains = new Domains(store)
    names.addFallback((name) => {
      const row = this.list().find((service) => service.name === name)
      return row ? { kind: 'service', id: row.id } : null
    })
  }

  /** An exact id wins over a name. */
  get(idOrName: string): ServiceRow | null {
    const exact = this.#rows.get(idOrName)
    if (exact) return exact
    const named = this.#names.holderOf(idOrName)
    return named?.kind === 'service' ? this.#rows.get(named.id) : null
  }

  /** The id of the service that has this custom domain, in its normal form; null when nobody has. */
  holderOf(domain: string): string | null {
    return this.#domains.holderOf(domain, () => this.list())
  }

  /** By name. One that is damaged is told and left out: it must not hide the others. */
  list(): ServiceRow[] {
    const rows = [...this.#rows.validRows()].map(({ value }) => value)
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Throws `name_taken`: services and datastores share one namespace; `conflict` for a domain of another. */
  create(row: ServiceRow, options: WriteOptions = {}): Promise<ServiceRow> {
    return this.#store.commit((commit) => this.insert(commit, row, options))
  }

  /** Only inside a commit: like `create`, as a part of something larger. */
  insert(commit: Commit, row: ServiceRow, options: WriteOptions = {}): ServiceRow {
    this.#names.claim(row.name, { kind: 'service', id: row.id })
    return this.#write(commit, null, row, options)
  }

  /**
   * Reads, changes and writes in one transaction, so that parallel changes of different fields all survive.
   * A `change` that answers the row itself changes nothing.
   * Throws `not_found`, and `conflict` for a domain of another service.
   */
  update(
    id: string,
    change: (row: ServiceRow) => ServiceRow,
    options: WriteOptions = {},
  ): Promise<ServiceRow> {
    return this.#store.commit((commit) => {
      const row = this.#rows.get(id)
      if (!row) throw new StorageError('not_found', `there is no service ${id}`)
      const changed = change(row)
      const next = changed === row ? row : { ...changed, revision: row.revision + 1 }
      return this.#write(commit, row, next, options)
    })
  }

  /** Only inside a commit: an actor's part of its service's row. A service that is gone stays gone. */
  patch(commit: Commit, id: string, { while_live, ...fields }: ServicePatch & ArchivePatch): void {
    const row = this.#rows.get(id)
    if (!row || (while_live && row.live_deploy_id !== while_live)) return
    const differs = Object.entries(fields).some(([field, value]) => row[field as keyof ServiceRow] !== value)
    if (differs) this.#write(commit, row, { ...row, ...fields, revision: row.revision + 1 })
  }

  /** Only inside a commit, when a deploy changed: the state of the service derives from its deploys. */
  touch(commit: Commit, id: string): void {
    const row = commit.hasAnnounced('service', id) ? null : this.#rows.getOrNull(id)
    if (row) this.#write(commit, row, { ...row, revision: row.revision + 1 })
  }

  /** Only inside a commit. Throws `conflict`: nothing new begins for a service that is being deleted. */
  assertNotDeleting(id: string): void {
    if (this.#rows.get(id)?.deleting) throw new StorageError('conflict', 'the service is being deleted')
  }

  /** Only inside a commit: the archive that came with this deploy is the one to keep, unless it is broken. */
  setArchive(commit: Commit, id: string, deployId: string): void {
    const row = this.#rows.get(id)
    if (!row) return
    const { archive_deploy_id: before, former_archive_deploy_id: former } = row
    this.patch(commit, id, { archive_deploy_id: deployId, former_archive_deploy_id: former ?? before })
  }

  /** The archive of this deploy was unpacked, or never can be. Saying it again changes nothing. */
  settleArchive(id: string, deployId: string, isSound: boolean): Promise<void> {
    return this.#store.commit((commit) => {
      const row = this.#rows.get(id)
      if (row) this.patch(commit, id, settledArchives(row, deployId, isSound))
    })
  }

  /** Only inside a commit: a deploy was parked. It may go on serving, but it is wanted no longer. */
  abandonDeploy(commit: Commit, id: string, deployId: string): void {
    const row = this.#rows.getOrNull(id)
    if (row?.live_deploy_id === deployId) this.patch(commit, id, { degraded: true })
    else if (row?.desired_deploy_id === deployId) {
      this.patch(commit, id, { desired_deploy_id: row.live_deploy_id })
    } else this.touch(commit, id)
  }

  /** Removes the row and frees its name and domains, with whatever else goes in the same transaction. */
  remove(id: string, also: (commit: Commit) => void = () => undefined): Promise<void> {
    return this.#store.commit((commit) => {
      const row = this.#rows.get(id)
      if (!row) return
      also(commit)
      this.#rows.remove(id)
      this.#names.release(row.name)
      this.#domains.move(id, row.custom_domains, [], () => [])
      commit.announce({ kind: 'service', id, service_id: id, status: 'deleted', revision: row.revision + 1 })
    })
  }

  #write(
    commit: Commit,
    former: ServiceRow | null,
    row: ServiceRow,
    { also, event }: WriteOptions = {},
  ): ServiceRow {
    also?.()
    if (event) this.#events.keep(event.id, new Date().toISOString(), event.answer)
    if (row === former) return row
    this.#domains.move(row.id, former?.custom_domains ?? [], row.custom_domains, () => this.list())
    this.#rows.put(row.id, row)
    const { id, revision } = row
    // The state also derives from deploys, so the feed reads it when it sends the change.
    commit.announce({ kind: 'service', id, service_id: id, status: null, revision })
    return row
  }
}

/** A sound archive is what to go back to, from a newer one too; the place of a broken one is given back. */
function settledArchives(row: ServiceRow, deployId: string, isSound: boolean): ArchivePatch {
  const { archive_deploy_id: newest, former_archive_deploy_id: former = null } = row
  const isNewest = newest === deployId
  if (isSound) return { former_archive_deploy_id: isNewest ? null : deployId }
  if (isNewest) return { archive_deploy_id: former, former_archive_deploy_id: null }
  return { former_archive_deploy_id: former === deployId ? null : former }
}

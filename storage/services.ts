// Services: the desired state, which deploys keep reading. Field names are those of the API.
// Only a deploy's own transaction writes `live_deploy_id` and `desired_deploy_id`, never a handler.
import type { StoredEvents } from './events.ts'
import { StorageError } from './store/errors.ts'
import type { Names } from './store/names.ts'
import type { Commit, Store, Table } from './store/store.ts'

export type ServiceType = 'web_service' | 'private_service' | 'background_worker' | 'cron_job' | 'static_site'

/** What the instances speak: HTTP/1.1, or HTTP/2 without TLS. */
export type ServiceProtocol = 'http' | 'h2c'

/** The settings of a user. A deploy freezes them when it starts. */
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
  /** Missing in rows and releases older than the setting, like the next two. */
  build_target?: string | null
  build_args?: Record<string, string>
  /** Null or missing: what the source asks for. */
  builder?: 'dockerfile' | 'recipe' | 'railpack' | 'pack' | null
  /** In lower case. Missing means none. */
  submodule_owners?: string[]
  /** Whether instances and jobs have an init process. Missing means true. */
  init?: boolean
  port: number | null
  /** Missing means `http`. */
  protocol?: ServiceProtocol
  health_check_path: string | null
  health_check_timeout_seconds: number
  drain_seconds: number
  schedule: string | null
  timezone: string | null
  overlap: 'skip' | 'queue' | 'replace' | null
  timeout_seconds: number | null
  instances: number
  suspended: boolean
  disk_mount_path: string | null
  memory_limit_mb: number | null
  cpu_limit: number | null
  /** In normal form. Each domain belongs to at most one service. */
  custom_domains: string[]
  hsts: boolean
  /** How long a response may stay without data. */
  request_timeout_seconds: number
  /** MiB of a request's body. */
  max_body_mb: number
}

/** Settings that schema 2 added, with the behavior of earlier versions. */
export const settingsOfSchema2 = { spa_fallback: false, pre_deploy_command: null, build_env: [] }

export const settingsOfSchema3 = { hsts: false, request_timeout_seconds: 75, max_body_mb: 512 }

export interface ServiceRow extends ServiceSettings {
  id: string
  name: string
  live_deploy_id: string | null
  desired_deploy_id: string | null
  /** Whether every service may connect to it. Missing in rows older than the setting. */
  shared_network?: boolean
  /** Whether a git connection may serve its repository. Missing means true. */
  use_git_connection?: boolean
  /** Whether it is deployed when its branch or its image changes. */
  auto_deploy: boolean
  /** Only changes below these paths are deployed, by the rules of .gitignore; empty for all. */
  watch_paths: string[]
  /** Follows the highest of these tags instead of the branch. Missing or null: the branch. */
  tag_pattern?: string | null
  /** Whether `[skip ci]` in a message counts as `[skip deploy]`. Missing means false. */
  skip_ci?: boolean
  /** How often the source is looked at; 0 for never. Missing in rows of schema 5. */
  poll_seconds?: number
  /** What a new head waits for. Missing means `push`: nothing. */
  deploy_when?: 'push' | 'checks' | 'required_checks'
  /** The rollback that paused automatic deploys. Missing or null: they are not paused. */
  auto_deploy_paused_by?: string | null
  /** Domains whose requests are redirected, to another host of the service. Missing means none. */
  domain_redirects?: Record<string, string>
  /** The volume of its disk. Missing means the one that is named after its id. */
  disk_volume?: string
  /** The deploy with whose upload the stored archive came; null without a deployable archive. */
  archive_deploy_id: string | null
  /** Whether `branch` is the remote's default branch. Missing when a user set it. */
  branch_learnt?: boolean
  /** The connection that read its repository last. Missing if it never was one of several. */
  read_with?: string
  /** When the server followed its repository to the present address, and the former one. */
  renamed?: { at: string; from: string }
  degraded: boolean
  deleting: boolean
  created_at: string
  updated_at: string
  revision: number
}

/** The part of a service's row that an actor's transition may write, in the same transaction. */
export interface ServicePatch {
  live_deploy_id?: string | null
  desired_deploy_id?: string | null
  degraded?: boolean
  deleting?: boolean
  disk_mount_path?: string
  disk_volume?: string
  archive_deploy_id?: string
  auto_deploy_paused_by?: string | null
  /** Apply the patch only while this deploy is live, so that a late report of a former one has no effect. */
  while_live?: string
}

interface WriteOptions {
  /** Further writes in the same transaction (env, credentials). */
  also?: () => void
  /** The request's id, and the response to a repetition. */
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
  }

  /** An exact id wins over a name. */
  get(idOrName: string): ServiceRow | null {
    const exact = this.#rows.get(idOrName)
    if (exact) return exact
    const named = this.#names.holderOf(idOrName)
    return named?.kind === 'service' ? this.#rows.get(named.id) : null
  }

  nameOf(id: string): string | null {
    return this.#rows.getOrNull(id)?.name ?? null
  }

  /** The id of the service that has this custom domain (in normal form); null for a free domain. */
  holderOf(domain: string): string | null {
    return this.#domains.holderOf(domain)
  }

  /** Sorted by name. A damaged row is reported and left out, so that it does not hide the others. */
  list(): ServiceRow[] {
    const rows = [...this.#rows.validRows()].map(({ value }) => value)
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Throws `name_taken` (datastores share the namespace), and `conflict` for a domain of another service. */
  create(row: ServiceRow, options: WriteOptions = {}): Promise<ServiceRow> {
    return this.#store.commit((commit) => this.insert(commit, row, options))
  }

  insert(commit: Commit, row: ServiceRow, options: WriteOptions = {}): ServiceRow {
    this.#names.claim(row.name, { kind: 'service', id: row.id })
    return this.#write(commit, null, row, options)
  }

  /**
   * Reads, changes and writes in one transaction, so that parallel changes of different fields all
   * survive. Nothing changes when `change` returns the same row. Throws `not_found`, and `conflict` for a
   * domain of another service.
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

  /** Only inside a commit. Writes a part of the service's row. No effect on a removed service. */
  patch(commit: Commit, id: string, { while_live, ...fields }: ServicePatch): void {
    const row = this.#rows.get(id)
    if (!row || (while_live && row.live_deploy_id !== while_live)) return
    const differs = Object.entries(fields).some(([field, value]) => row[field as keyof ServiceRow] !== value)
    if (differs) this.#write(commit, row, { ...row, ...fields, revision: row.revision + 1 })
  }

  /** Only inside a commit. Announces the service after a change of a deploy, from which its state derives. */
  touch(commit: Commit, id: string): void {
    const row = commit.hasAnnounced('service', id) ? null : this.#rows.getOrNull(id)
    if (row) this.#write(commit, row, { ...row, revision: row.revision + 1 })
  }

  /** Only inside a commit. Throws `conflict` for a service that is being deleted. */
  assertNotDeleting(id: string): void {
    if (this.#rows.get(id)?.deleting) throw new StorageError('conflict', 'the service is being deleted')
  }

  /** Only inside a commit, when a deploy is parked: it may still serve, but it is no longer desired. */
  abandonDeploy(commit: Commit, id: string, deployId: string): void {
    const row = this.#rows.getOrNull(id)
    if (row?.live_deploy_id === deployId) this.patch(commit, id, { degraded: true })
    else if (row?.desired_deploy_id === deployId) {
      this.patch(commit, id, { desired_deploy_id: row.live_deploy_id })
    } else this.touch(commit, id)
  }

  /** Removes the row and frees its name and domains; `also` runs in the same transaction. */
  remove(id: string, also: (commit: Commit) => void = () => undefined): Promise<void> {
    return this.#store.commit((commit) => {
      const row = this.#rows.get(id)
      if (!row) return
      also(commit)
      this.#rows.remove(id)
      this.#names.release(row.name)
      this.#domains.move(id, row.custom_domains, [])
      commit.announce({ kind: 'service', id, service_id: id, status: 'deleted', revision: row.revision + 1 })
    })
  }

  #write(
    commit: Commit,
    previous: ServiceRow | null,
    row: ServiceRow,
    { also, event }: WriteOptions = {},
  ): ServiceRow {
    also?.()
    if (event) this.#events.keep(event.id, new Date().toISOString(), event.answer)
    if (row === previous) return row
    this.#domains.move(row.id, previous?.custom_domains ?? [], row.custom_domains)
    this.#rows.put(row.id, row)
    const { id, revision } = row
    // The state also derives from deploys, so the feed reads the status when it sends the change.
    commit.announce({ kind: 'service', id, service_id: id, status: null, revision })
    return row
  }
}

export class Domains {
  readonly #holders: Table<string>

  constructor(store: Store) {
    this.#holders = store.table('domains')
  }

  holderOf(domain: string): string | null {
    return this.#holders.get(domain)
  }

  /** Only inside a commit. Throws `conflict` for a domain of another service. */
  move(id: string, previous: readonly string[], wanted: readonly string[]): void {
    for (const domain of wanted) {
      if (previous.includes(domain)) continue
      const holder = this.holderOf(domain)
      if (holder !== null && holder !== id) {
        throw new StorageError('conflict', `the domain ${domain} belongs to another service`)
      }
      this.#holders.put(domain, id)
    }
    for (const domain of previous) if (!wanted.includes(domain)) this.#holders.remove(domain)
  }
}

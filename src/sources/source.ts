// A kind of source whose files are fetched, and built on this host.
import type { DeploySource, Fetched } from '../../machines/deploy/deploy-context.ts'
import type { Storage } from '../../storage/index.ts'
import type { ServiceSettings } from '../../storage/services.ts'
import type { CheckoutRequest } from '../git/checkout.ts'
import type { RepositoryUrl } from '../git/repository.ts'
import type { Logger } from '../logger.ts'

export interface Source {
  fetch(job: FetchJob): Promise<Fetched>
  /** How a file that .gitignore leaves out can reach a build. */
  ignoredFileAdvice: string
}

export interface FetchJob extends Pick<CheckoutRequest, 'localRepositories' | 'hostRules' | 'signal'> {
  deployId: string
  serviceId: string
  source: DeploySource
  settings: ServiceSettings
  /** Null if the service follows no tags. */
  tagPattern: string | null
  /** For the files. It need not exist. */
  directory: string
  storage: Storage
  logger: Logger
  /** How many bytes the files may have. */
  roomBytes(): Promise<number>
  accessRepository(repository: RepositoryUrl): Promise<GitAccess>
  onLine(line: string): void
}

export type GitAccess = Pick<
  CheckoutRequest,
  'repository' | 'credentials' | 'problem' | 'ssh' | 'basePath' | 'accessSubmodule'
>

// What a user should know of a version that works: data that each new instance begins without.
import { posix } from 'node:path'
import type { DeployWarning } from '../../../../machines/deploy/deploy-context.ts'
import type { EnvVar } from '../../../../storage/env.ts'
import type { ReleaseRecipe } from '../../../../storage/releases.ts'
import { inspectImage } from '../../../docker/images/images.ts'
import { quote } from '../../../domain/shell-word.ts'
import type { DeployPhase } from '../phase.ts'

type StoredData = NonNullable<ReleaseRecipe['stored_data']>[number]

const serverAddress =
  /^(postgres(ql)?|mysql2?|mariadb|mongodb|mssql|sqlserver|cockroachdb|libsql)(\+\w+)*:\/\//i
const serverNames = /(^|_)(DB|DATABASE|PG|POSTGRES|MYSQL)_?HOST$/
/** Never a password, a token or an address with them: the warning is shown to everyone who may read. */
const plainPath = /^[\w./~+ -]+$/
const kindNames = /^(DB|DATABASE)_(CONNECTION|CLIENT|TYPE|DIALECT|ENGINE|DRIVER|ADAPTER)$/

/** Also logs them. */
export async function findWarnings(phase: DeployPhase, image: string): Promise<DeployWarning[]> {
  const { ports, log, release } = phase
  const { name } = phase.service
  const { disk_mount_path } = release.settings
  const disk = disk_mount_path && posix.join(disk_mount_path, '.')
  const paths = (await inspectImage(ports.engine, image))?.volumePaths ?? []
  const uncovered = paths.filter((path) => path !== disk)
  for (const path of uncovered) {
    log.info(
      `warning: the image keeps data in ${path} (VOLUME), where ${name} has no disk: each new instance`,
    )
    log.info("begins with the image's data, and the old data goes to the trash. A disk costs short gaps at")
    log.info(`deploys, and allows one instance: berth update ${name} --disk ${quote(path)}`)
  }
  const stored = findUncovered(release.recipe?.stored_data ?? [], release.resolved ?? release.env, disk)
  for (const { path, reason } of stored) {
    log.info(
      `warning: ${reason}; without a disk there, each new instance begins without it. A disk costs short`,
    )
    log.info(`gaps at deploys, and allows one instance: berth update ${name} --disk ${quote(path)}`)
  }
  return [...uncovered.map((path) => ({ code: 'volume_without_disk' as const, path })), ...stored]
}

/** What the source keeps in files that are on no disk. The env may decide where they are. */
export function findUncovered(data: StoredData[], env: EnvVar[], disk: string | null) {
  const usesServer = env.some(({ key, value }) => namesServer(key, value))
  return data.flatMap((one) => {
    if (one.kind === 'database' && usesServer) return []
    const { path, reason, folder } = locate(one, env)
    const isCovered = disk !== null && (path === null || `${path}/`.startsWith(`${disk}/`))
    return isCovered ? [] : [{ code: 'data_without_disk' as const, path: folder, reason }]
  })
}

function namesServer(key: string, value: string): boolean {
  const isOther = kindNames.test(key) && value !== '' && !/sqlite|libsql/i.test(value)
  return serverAddress.test(value) || isOther || (serverNames.test(key) && value !== '')
}

/** The variable may hold the path of a file or folder, or an address: `file:/data/app.db`. */
function locate({ library, path, variable, base, disk, reason }: StoredData, env: EnvVar[]) {
  const value = env.find(({ key }) => key === variable)?.value.trim() ?? ''
  const named = value.replace(/^[\w+]+:(\/\/\/?(?=\/|[^/]))?/, '').replace(/\?.*$/, '')
  if (!plainPath.test(named)) return { path, reason, folder: disk }
  const own = posix.resolve(base, named)
  const folder = posix.extname(own) === '' ? own : posix.dirname(own)
  const isNext = `${disk}/`.startsWith(`${folder}/`)
  const move = isNext && folder !== disk ? `: let it be in ${disk}` : ''
  return {
    path: own,
    reason: `${library} keeps its data in ${own} (${variable})${move}`,
    folder: isNext ? disk : folder,
  }
}

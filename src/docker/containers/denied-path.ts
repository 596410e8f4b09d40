// Finds out whether an instance was denied a path of its disk because another user owns that path. Its last
// lines name the path.
import { posix } from 'node:path'
import type { Container } from 'dockerode'
import { orNull } from '../engine/client.ts'
import { readArchive } from './archive-entries.ts'
import type { EngineScope, InspectedContainer } from './find-container.ts'
import { isRoot, resolveUser, type UserIds } from './image-user.ts'

export interface DeniedPath {
  path: string
  owner: UserIds
  /** The user that the instance runs as. */
  user: UserIds
  /** The mount path of the disk. */
  disk: string
}

const denial = /EACCES|EPERM|permission denied|operation not permitted/i
const maxPaths = 3
/** Each costs a request to the engine, and the instance chooses how deep a path its lines name. */
const maxCandidates = 20

/** Null if the instance runs as root, or its lines name no such path. The newest line counts first. */
export async function findDeniedPath(
  scope: EngineScope,
  { container, info }: InspectedContainer,
  lines: string[],
): Promise<DeniedPath | null> {
  const disk = info.HostConfig.Mounts?.[0]?.Target
  if (disk === undefined || isRoot(info.Config.User)) return null
  const paths = pathsToTry(disk, lines)
  const user = paths.length === 0 ? null : await resolveUser(scope, container, info.Config.User)
  if (user === null) return null
  for (const path of paths) {
    const owner = await ownerOf(scope, container, path)
    if (owner !== null && owner.uid !== user.uid) return { path, owner, user, disk }
  }
  return null
}

function ownerOf({ engine }: EngineScope, container: Container, path: string): Promise<UserIds | null> {
  const read = readArchive(engine, { container, path }, async (next) => {
    const first = await next()
    return first.done ? null : { uid: first.value.header.uid ?? 0, gid: first.value.header.gid ?? 0 }
  })
  return orNull(read)
}

/** The paths of the disk in lines about a denial, of the newest line first. Pure. */
export function deniedPaths(disk: string, lines: string[]): string[] {
  const escaped = disk.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const path = new RegExp(`(?<![\\w./-])${escaped}(?:/[\\w./@+-]*)?(?![\\w-])`)
  const found = lines
    .toReversed()
    .filter((line) => denial.test(line))
    .flatMap((line) => path.exec(line)?.[0] ?? [])
    .map((text) => posix.resolve(text))
    .filter((text) => isInside(disk, text))
  return [...new Set(found)].slice(0, maxPaths)
}

/** The denied paths with their parents, of which another user may own one. Pure. */
export function pathsToTry(disk: string, lines: string[]): string[] {
  return deniedPaths(disk, lines)
    .flatMap((path) => withParents(disk, path))
    .slice(0, maxCandidates)
}

/** The path and its nearest parents, up to the disk. */
function withParents(disk: string, path: string): string[] {
  const found = [path]
  for (let parent = posix.dirname(path); isInside(disk, parent); parent = posix.dirname(parent)) {
    if (found.push(parent) === maxCandidates) break
  }
  return found
}

function isInside(disk: string, path: string): boolean {
  const root = posix.resolve(disk)
  return path === root || path.startsWith(`${root}/`)
}

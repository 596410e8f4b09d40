// Finds the path that an instance was denied on its disk: its last lines name it, and another user owns it.
import { posix } from 'node:path'
import type { Container } from 'dockerode'
import { orNull } from '../engine/client.ts'
import { readArchive } from './archive-entries.ts'
import type { EngineScope, InspectedContainer } from './find-container.ts'
import { grants, isRoot, type OwnedFile, resolveUser, type UserIds } from './image-user.ts'

export interface DeniedPath {
  path: string
  owner: UserIds
  user: UserIds
  disk: string
}

interface Denial {
  path: string
  /** Whether only the owner may do it, whatever the mode. */
  isForOwner: boolean
}

interface Found extends OwnedFile {
  path: string
}

const denial = /EACCES|permission denied/i
const denialOfOwner = /EPERM|operation not permitted/i
const otherError = /(error|exception)\b|\b(fatal|panic|failed)\b/i
/** What package managers write after any failure, and the frames of a stack. */
const consequence = /^npm |exit (code|status)|^\s+at /i
/** Each costs a request to the engine, and the instance chooses how deep a path its lines name. */
const maxCandidates = 20

/** Null if the instance runs as root, or its newest error is not about a path of another user on its disk. */
export async function findDeniedPath(
  scope: EngineScope,
  { container, info }: InspectedContainer,
  lines: string[],
): Promise<DeniedPath | null> {
  const disk = info.HostConfig.Mounts?.[0]?.Target
  if (disk === undefined || isRoot(info.Config.User)) return null
  const denied = newestDenial(disk, lines)
  const user = denied === null ? null : await resolveUser(scope, container, info.Config.User)
  if (denied === null || user === null) return null
  const files: Found[] = []
  for (const path of withParents(disk, denied.path)) {
    const file = await orNull(readOwned(scope, container, path))
    if (file !== null) files.push({ path, ...file })
  }
  const cause = findCause(denied, files, user)
  if (cause === null || cause.uid === user.uid) return null
  const { path, uid, gid } = cause
  return { path, owner: { uid, gid }, user, disk }
}

function readOwned({ engine }: EngineScope, container: Container, path: string): Promise<OwnedFile | null> {
  return readArchive(engine, { container, path }, async (next) => {
    const first = await next()
    if (first.done) return null
    const { uid = 0, gid = 0, mode = 0o777 } = first.value.header
    return { uid, gid, mode }
  })
}

/** The one that denies it of the files that exist: the path and its parents, nearest first. */
function findCause({ path, isForOwner }: Denial, files: Found[], user: UserIds): Found | null {
  const [nearest, parent] = files
  if (nearest === undefined) return null
  const closed = files.findLast((file) => file.path !== path && !grants(file, user, enter))
  if (closed !== undefined) return closed
  const exists = nearest.path === path
  if (exists && isForOwner) return nearest
  if (!grants(nearest, user, exists ? use : change)) return nearest
  // A file is removed from its folder, whatever its own mode.
  return exists && parent !== undefined && !grants(parent, user, change) ? parent : null
}

const enter = 1
const change = 3
const use = 6

/** Null if a later line shows another error. Pure. */
export function newestDenial(disk: string, lines: string[]): Denial | null {
  const escaped = disk.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const onDisk = new RegExp(`(?<![\\w./-])${escaped}(?:/[\\w./@+-]*)?(?![\\w-])`)
  for (const line of lines.toReversed()) {
    const isForOwner = denialOfOwner.test(line)
    if (isForOwner || denial.test(line)) {
      const path = posix.resolve(onDisk.exec(line)?.[0] ?? '/')
      if (isInside(disk, path)) return { path, isForOwner }
      if (/(?<![\w./-])\/\w/.test(line)) return null
    } else if (otherError.test(line) && !consequence.test(line)) return null
  }
  return null
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

// The server's rules for an archive, so that violations are reported before the upload. src/archive/ has the
// same rules and makes the final decision: it also rejects names that pass these checks.

const mebibyte = 1024 * 1024

export const archiveLimits = {
  entries: 200_000,
  unpackedBytes: 4096 * mebibyte,
  packedBytes: 512 * mebibyte,
} as const

const pathLimitBytes = 2048
/** Node's replacement for bytes that are not UTF-8. */
const replacement = '\uFFFD'

/** The reason why the server would reject an entry of this name; null if it would not. */
export function nameProblem(path: string): string | null {
  if (path.includes(replacement)) return 'has a name that is not UTF-8'
  return Buffer.byteLength(path) > pathLimitBytes ? 'has a path that is too long' : null
}

/**
 * The reason why a symbolic link would be rejected, or null. It must stay in the source, and no `..` may
 * follow a name, which may be a link itself.
 */
export function linkProblem(path: string, target: string): string | null {
  if (target.includes(replacement)) return 'is a link with a target that is not UTF-8'
  if (Buffer.byteLength(target) > pathLimitBytes) return 'is a link with a target that is too long'
  if (target.startsWith('/')) return `is a link to the absolute path ${target}`
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const climbs = parts.filter((part) => part === '..').length
  if (climbs > depthOf(path)) return `is a link that points out of the folder (${target})`
  return parts.lastIndexOf('..') >= climbs ? `is a link with .. after a name (${target})` : null
}

/** Whether a link points out of its top-level folder, but not out of the source. */
export function leavesTopFolder(path: string, target: string): boolean {
  return target.split('/').filter((part) => part === '..').length === depthOf(path)
}

function depthOf(path: string): number {
  return path.split('/').length - 1
}

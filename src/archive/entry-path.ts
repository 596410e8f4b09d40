// Rules for the names of archive entries and the targets of links: both must stay inside the tree.
import { Failure } from '../errors.ts'

/** The limit of file systems, minus room for the parent folder. */
const pathLimitBytes = 2048
const partLimitBytes = 255
const shownChars = 200

/** The parts of an entry's name; empty for the top itself. Throws `archive_invalid`. */
export function partsOf(name: string): string[] {
  if (name === '') throw refused(name, 'has no name')
  if (name.startsWith('/')) throw refused(name, 'is an absolute path')
  if (Buffer.byteLength(name) > pathLimitBytes) throw refused(name, 'has a name that is too long')
  const parts = plainParts(name)
  if (parts.includes('..')) throw refused(name, 'has .. in its path')
  if (parts.some((part) => Buffer.byteLength(part) > partLimitBytes)) {
    throw refused(name, 'has a name that is too long')
  }
  return parts
}

/**
 * Returns whether a symbolic link climbs to the top of the tree. Throws `archive_invalid` for a link that
 * points out of it. A `..` after a name is refused, because that name may be a link to another place.
 */
export function climbsToTop(link: readonly string[], target: string): boolean {
  const name = link.join('/')
  if (target === '') throw refused(name, 'is a link to nothing')
  if (Buffer.byteLength(target) > pathLimitBytes)
    throw refused(name, 'is a link with a target that is too long')
  if (target.startsWith('/')) throw leadsOut(name, target)
  const parts = plainParts(target)
  const climbs = parts.filter((part) => part === '..').length
  const depth = link.length - 1
  if (climbs > depth) throw leadsOut(name, target)
  if (parts.lastIndexOf('..') >= climbs)
    throw refused(name, `is a link with .. after a name (${quote(target)})`)
  return climbs === depth
}

export function leadsOut(name: string, target: string): Failure {
  return refused(name, `is a link that points out of the tree (${quote(target)})`)
}

export function refused(name: string, problem: string): Failure {
  return new Failure('archive_invalid', `${quote(name)} ${problem}`)
}

/** Escapes a name for a log line. */
export function quote(name: string): string {
  const truncated = name.length > shownChars ? `${name.slice(0, shownChars)}…` : name
  return `'${truncated.replace(/[\p{Cc}\u2028\u2029]/gu, '?')}'`
}

function plainParts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

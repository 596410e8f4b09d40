// What an entry of an archive may be called, and where its links may lead: both stay inside of the tree.
import { Failure } from '../errors.ts'

/** What file systems take, with room for the folder in front of it. */
const pathLimitBytes = 2048
const partLimitBytes = 255
const shownChars = 200

/** The parts of an entry's name, none for the top itself. Throws `archive_invalid`. */
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
 * Answers whether a symbolic link climbs to the very top. Throws `archive_invalid` for one that leads out.
 * Behind a name no `..` may follow: the name may be a link itself, and its `..` is somewhere else.
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

/** A name as it can stand in a line of a log, whatever is in it. */
export function quote(name: string): string {
  const shown = name.length > shownChars ? `${name.slice(0, shownChars)}…` : name
  return `'${shown.replace(/[\p{Cc}\u2028\u2029]/gu, '?')}'`
}

function plainParts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

// Paths inside of a fetched source, which is untrusted: links may lead out of it.
import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Failure } from '../errors.ts'

/** Throws `source_not_found`, with one text for both: links must not show which files the host has. */
export async function resolveInside(checkout: string, path: string, what: string): Promise<string> {
  const root = await realpath(checkout)
  const resolved = await realpath(join(root, path)).catch(() => null)
  if (resolved === null || /^\.\.(\/|$)/.test(relative(root, resolved))) {
    throw new Failure('source_not_found', `${what} ${path} is not in the source`)
  }
  return resolved
}

export function isInside(checkout: string, path: string): Promise<boolean> {
  return resolveInside(checkout, path, '').then(
    () => true,
    () => false,
  )
}

// Follows redirects of a server one by one, because git would not check the next host.
import { Failure } from '../errors.ts'
import type { Credentials } from './credentials.ts'
import { GitError } from './process.ts'
import { parseRepositoryUrl, type RepositoryUrl } from './repository.ts'

export interface Target {
  repository: RepositoryUrl
  credentials: Credentials | null
}

/** Runs git; with `traced` its error contains the response headers. */
type Run<T> = (target: Target, options: { traced: boolean }) => Promise<T>

const maxRedirects = 5
const suffix = '/info/refs'

/** Also resolves with the final location of the repository, for later commands. */
export async function followRedirects<T>(
  start: Target,
  run: Run<T>,
  look: Run<unknown>,
): Promise<{ result: T; target: Target }> {
  let target = start
  for (let count = 0; ; count++) {
    try {
      return { result: await run(target, { traced: false }), target }
    } catch (error) {
      if (!isRedirect(error) || count === maxRedirects) throw error
      const next = await readRedirect(target, look)
      if (next === null) throw error
      target = next
    }
  }
}

async function readRedirect(target: Target, look: Run<unknown>): Promise<Target | null> {
  const error = await look(target, { traced: true }).catch((reason: unknown) => reason)
  if (!(error instanceof GitError)) {
    if (error instanceof Error) throw error
    return null
  }
  const location = error.outputLines.findLast((line) => header.test(line))?.match(header)?.[1]
  return location === undefined ? null : nextTarget(target, location)
}

const header = /<= Recv header: location: *(\S+)/i

/** Credentials are sent to their own origin only. Throws for a redirect that is not followed. */
function nextTarget({ repository, credentials }: Target, location: string): Target | null {
  const from = new URL(`${repository.url}${suffix}`)
  if (!URL.canParse(location, from.href)) return null
  const to = new URL(location, from)
  const base = to.pathname.endsWith(suffix) ? to.pathname.slice(0, -suffix.length) : null
  const isDowngrade = from.protocol === 'https:' && to.protocol !== 'https:'
  if (base === null || isDowngrade || !/^https?:$/.test(to.protocol)) {
    const what = isDowngrade ? 'away from https' : 'to something other than a repository'
    throw new Failure('git_remote_unreachable', `cannot read ${repository.url}: it redirects ${what}`)
  }
  const next = { ...parseRepositoryUrl(`${to.origin}${base}`), credentials: null }
  return { repository: next, credentials: to.origin === from.origin ? credentials : null }
}

function isRedirect(error: unknown): boolean {
  return (
    error instanceof GitError && error.outputLines.some((line) => /returned error: 30[1278]\b/.test(line))
  )
}

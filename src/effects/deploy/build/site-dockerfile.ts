// The Dockerfile that puts a site into the static server's image, and which files of the source it
// includes. Pure.
import { posix } from 'node:path'
import { ignoreLines } from '../../../docker/dockerfile/ignore-rules.ts'
import { Failure } from '../../../errors.ts'
import { serverLines, siteOwner } from './site-server.ts'

export interface Site {
  /** The server image: nginx, or an image that serves /site on $PORT, and reads BERTH_SPA. */
  server: string
  /** The folder of the context with the configuration of nginx; null for a complete server. */
  serverFolder: string | null
  isSpa: boolean
  /** The image that contains the site; null for the build context. */
  from: string | null
  /** The folder whose content is the site. */
  folder: string
  /** Whether the build must fail if the folder has no index.html. */
  needsIndex: boolean
}

export function siteDockerfile({ server, serverFolder, isSpa, from, folder, needsIndex }: Site): string {
  const options = [`--chown=${siteOwner}:${siteOwner}`, ...(from === null ? [] : [`--from=${from}`])]
  const copy = (path: string) =>
    `COPY ${options.join(' ')} ${JSON.stringify([escapePattern(path), '/site/'])}`
  return [
    `FROM ${server}`,
    ...(serverFolder === null ? [] : serverLines(serverFolder)),
    `ENV BERTH_SPA=${isSpa ? 1 : 0}`,
    // Missing, it fails this step: a way to look into an image that has no container.
    ...(needsIndex ? [copy(posix.join(folder, 'index.html'))] : []),
    copy(folder),
    '',
  ].join('\n')
}

/** Whether a build failed because the folder or its index.html is missing. */
export function isMissing(error: unknown): boolean {
  return error instanceof Failure && error.facts?.missing_path !== undefined
}

/**
 * Lines of a .dockerignore that include the site's folder without its dotfiles, except those in .well-known.
 * `rules` are the user's own, relative to the folder `root`.
 */
export function siteIgnore(folder: string, root: string, rules: string): string[] {
  const patterns = ignoreLines(rules).map(({ line }) =>
    line.startsWith('!') ? `!${rooted(line.slice(1))}` : rooted(line),
  )
  function rooted(pattern: string): string {
    return posix.join(escapePattern(root), pattern.trim())
  }
  const site = escapePattern(folder)
  const hidden = [`${site}/**/.*`, `!${site}/.well-known`, `${site}/.well-known/**/.*`]
  return ['*', `!${site}`, ...patterns, ...hidden]
}

/** COPY and .dockerignore treat these characters as patterns or variables, and escape them differently. */
function escapePattern(path: string): string {
  if (!/[*?[\]\\$"\p{Cc}]|\s$/u.test(path)) return path
  throw new Failure('invalid_request', `the folder '${path}' has a name that cannot be copied from`)
}

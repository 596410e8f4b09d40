// The sources that users can specify: a repository, a branch, a commit. All input for git is validated here
// first, so that nothing can be read as an option, another transport or a relative path.
import { Failure } from '../errors.ts'
import { type Credentials, checkCredentials } from './credentials.ts'

export type RepositoryKind = 'https' | 'http' | 'ssh' | 'path'

export interface RepositoryUrl {
  /** The address for users and for git, without credentials but with the user name of an ssh address. */
  url: string
  kind: RepositoryKind
  /** In lower case, with the port if it is specified; null for a path. */
  host: string | null
  credentials: Credentials | null
}

/** Throws `invalid_request` with the reason, which never repeats the text: it may contain a secret. */
export function parseRepositoryUrl(text: string): RepositoryUrl {
  const trimmed = text.trim()
  refuseOddCharacters(trimmed)
  if (trimmed.startsWith('/')) return parsePath(trimmed)
  if (/^https?:\/\//i.test(trimmed)) return parseHttp(trimmed)
  if (/^ssh:\/\//i.test(trimmed)) return parseSsh(trimmed)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed)?.[1]
  if (scheme !== undefined) throw invalid(`starts with ${scheme}://; ${acceptedForms}`)
  return parseScp(trimmed)
}

/** The address of a submodule as its parent names it: `./` and `../` start at the parent's own address. */
export function resolveRepositoryUrl(parent: RepositoryUrl, text: string): RepositoryUrl {
  if (!/^\.\.?\//.test(text)) return parseRepositoryUrl(text)
  if (text.length > maxLength) throw invalid(tooLong)
  // git applies only the leading parts, too.
  refuseHiddenParts(text.replace(/^(?:\.\.?\/)+/, ''))
  const scp = parent.kind === 'ssh' ? scpForm.exec(parent.url)?.groups : undefined
  if (scp !== undefined)
    return parseRepositoryUrl(`${scp.user}@${scp.host}:${resolvePath(`/${scp.path}`, text).slice(1)}`)
  if (parent.kind === 'path') return parseRepositoryUrl(resolvePath(parent.url, text))
  const { protocol, username, host, pathname } = new URL(parent.url)
  const user = username === '' ? '' : `${username}@`
  return parseRepositoryUrl(`${protocol}//${user}${host}${resolvePath(pathname, text)}`)
}

/**
 * The user, group or organization of a repository, in lower case: the first part of its path below the path
 * of the git provider. Empty for a repository directly below it, null for one elsewhere or not over http.
 */
export function ownerOf({ kind, url }: RepositoryUrl, basePath: string): string | null {
  if (kind !== 'https' && kind !== 'http') return null
  const { pathname } = new URL(url)
  if (!pathname.startsWith(`${basePath}/`)) return null
  const parts = pathname.slice(basePath.length + 1).split('/')
  return parts.length === 1 ? '' : parts[0]!.toLowerCase()
}

/** Host and path, the same for all addresses of a repository; null for a path of this host. */
export function repositoryKey(repository: RepositoryUrl): string | null {
  const { kind, url } = repository
  if (kind === 'path') return null
  const ssh = sshParts(repository)
  const { hostname, pathname } = ssh === null ? new URL(url) : { ...ssh, pathname: ssh.path }
  const path = pathname.replace(/^\/+/, '').replace(/(?:\.git)?\/*$/, '')
  return `${hostname}/${path}`.toLowerCase()
}

/** Whether credentials for one repository may be sent to the server of the other. */
export function isSameOrigin(one: RepositoryUrl, other: RepositoryUrl): boolean {
  return one.kind === other.kind && one.host === other.host
}

interface SshParts {
  user: string
  /** In lower case. */
  hostname: string
  /** Empty for the usual one. */
  port: string
  /** Without a slash in front. */
  path: string
}

/** Null for an address of another kind. */
export function sshParts({ kind, url }: RepositoryUrl): SshParts | null {
  if (kind !== 'ssh') return null
  const scp = scpForm.exec(url)?.groups as { user: string; host: string; path: string } | undefined
  if (scp !== undefined)
    return { user: scp.user, hostname: scp.host.toLowerCase(), port: '', path: scp.path.replace(/^\//, '') }
  const { username, hostname, port, pathname } = new URL(url)
  const usualPort = port === '22' ? '' : port
  return { user: username, hostname: hostname.toLowerCase(), port: usualPort, path: pathname.slice(1) }
}

/** Applies git's own rules for `refs/heads/<branch>`. Throws `invalid_request`. */
export function checkBranch(text: string): string {
  const wrong = branchRules.find(([pattern]) => pattern.test(text))
  if (wrong !== undefined) throw new Failure('invalid_request', `branch ${wrong[1]}`)
  return text
}

/** A commit id or a tag, as it was typed. Throws `invalid_request`. */
export function checkCommit(text: string): string {
  const commit = text.trim()
  const wrong = branchRules.find(([pattern]) => pattern.test(commit))
  if (wrong !== undefined) throw new Failure('invalid_request', `commit ${wrong[1]}: it is an id or a tag`)
  return commit
}

/** Whether the text can be a commit id. It can still be the name of a tag. */
export function isCommitId(text: string): boolean {
  return /^[0-9a-f]{4,64}$/i.test(text)
}

const acceptedForms = 'use https://, http://, ssh://, git@host:owner/name or an absolute path'
const hostForm = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/i
const scpForm = /^(?<user>[a-z0-9_][a-z0-9._-]*)@(?<host>[^:/@]{2,}):(?<path>.+)$/i

const branchRules: [pattern: RegExp, what: string][] = [
  [/^$/, 'is empty'],
  [/^.{256}/su, 'is longer than 255 characters'],
  [/^-/, 'starts with -'],
  [/[\p{Cc}\s~^:?*[\\]/u, 'has a blank, a control character or one of ~ ^ : ? * [ \\'],
  [/\.\.|\/\/|@\{|^@$/, 'has .. or // or @{, or is @'],
  [/^\/|\/$/, 'starts or ends with /'],
  [/(^|\/)\./, 'has a part that starts with a dot'],
  [/\.lock(\/|$)|\.$/, 'ends with a dot or .lock'],
]

/** Also that of the API. */
const maxLength = 2048
const tooLong = `is longer than ${maxLength} characters`

function refuseOddCharacters(text: string): void {
  if (text === '') throw invalid('is empty')
  if (text.length > maxLength) throw invalid(tooLong)
  if (/[\p{Cc}\s]/u.test(text)) throw invalid('has a blank or a control character')
  if (text.includes('\\')) throw invalid('has a backslash')
  if (text.startsWith('-')) throw invalid('starts with -')
  if (text.includes('::'))
    throw invalid(
      'has ::, which git takes for the name of a helper program (IPv6 addresses need a host name)',
    )
}

/** Servers and git resolve these differently, so the owner in the path may not be the one git fetches. */
function refuseHiddenParts(path: string): void {
  if (/%(?:2e|2f|5c)/i.test(path)) throw invalid('has an encoded dot, slash or backslash in its path')
  const parts = path.replace(/^\//, '').replace(/\/+$/, '').split('/')
  if (parts.includes('..')) throw invalid('has .. in its path')
  if (parts.includes('.')) throw invalid('has a part . in its path')
  if (parts.length > 1 && parts.includes('')) throw invalid('has an empty part in its path')
}

function parsePath(text: string): RepositoryUrl {
  refuseHiddenParts(text)
  refuseShellCharacters(text)
  const url = text.replace(/\/+$/, '')
  if (url === '') throw invalid('names no repository')
  return { url, kind: 'path', host: null, credentials: null }
}

function parseHttp(text: string): RepositoryUrl {
  const { protocol, host, pathname, username, password } = parseUrl(text)
  const named = username !== '' || password !== ''
  return {
    url: `${protocol}//${host}${repositoryPath(pathname)}`,
    kind: protocol === 'https:' ? 'https' : 'http',
    host,
    credentials: named ? checkCredentials({ username: decode(username), password: decode(password) }) : null,
  }
}

function parseSsh(text: string): RepositoryUrl {
  const { host, pathname, username, password } = parseUrl(text)
  if (password !== '') throw invalid('has a password, but ssh takes keys only')
  refuseShellCharacters(decode(pathname))
  if (!/^([a-z0-9_][a-z0-9._-]*)?$/i.test(username)) throw invalid('has an invalid user name')
  const user = username === '' ? '' : `${username}@`
  return {
    url: `ssh://${user}${host}${repositoryPath(pathname)}`,
    kind: 'ssh',
    host: host.toLowerCase(),
    credentials: null,
  }
}

function parseScp(text: string): RepositoryUrl {
  const parts = scpForm.exec(text)?.groups
  if (parts === undefined) throw invalid(`must have one of these forms: ${acceptedForms}`)
  const { user, host, path } = parts as { user: string; host: string; path: string }
  if (!hostForm.test(host)) throw invalid('has an invalid host name')
  if (path.startsWith('-')) throw invalid('has a path that starts with -')
  refuseHiddenParts(path)
  refuseShellCharacters(path)
  return {
    url: `${user}@${host}:${path.replace(/\/+$/, '')}`,
    kind: 'ssh',
    host: host.toLowerCase(),
    credentials: null,
  }
}

/** git passes a path to a shell: its own for a local repository, the remote's over ssh. */
function refuseShellCharacters(path: string): void {
  const shellCharacter = /["'`$&;|<>(){}[\]*?!#]/.exec(path)?.[0]
  if (shellCharacter !== undefined)
    throw invalid(`has a ${shellCharacter} in its path, which means something to a shell`)
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw invalid('is not a valid URL')
  // As it was typed: URL applies dots, also encoded ones.
  refuseHiddenParts(text.replace(/^[a-z]+:\/\/[^/]*/i, ''))
  const url = new URL(text)
  if (!hostForm.test(url.hostname)) throw invalid('has an invalid host name')
  if (url.search !== '' || url.hash !== '') throw invalid('has a ? or a #')
  return url
}

function repositoryPath(pathname: string): string {
  const path = pathname.replace(/\/+$/, '')
  if (path === '') throw invalid('names no repository')
  return path
}

function resolvePath(parent: string, relative: string): string {
  return new URL(relative, `http://parent${parent.replace(/\/+$/, '')}/`).pathname
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('has a broken % escape')
  }
}

function invalid(what: string): Failure {
  return new Failure('invalid_request', `repository URL ${what}`)
}

/** Stored credentials, with the scheme, host and port that they are for. */
type TypedCredentials = Credentials & { origin: string }

/** Each function throws `invalid_request`. */
export const typed = {
  /** `url` never contains the credentials. */
  repository(text: string): { url: string; credentials: TypedCredentials | null } {
    const { url, credentials } = parseRepositoryUrl(text)
    return { url, credentials: credentials && { ...credentials, origin: new URL(url).origin } }
  },
  branch: checkBranch,
  commit: checkCommit,
}

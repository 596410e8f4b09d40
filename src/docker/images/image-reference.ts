// What a person may name as an image, by the grammar of registries: `[host/]repository[:tag][@digest]`.
// Everything the engine will see passes through here first, so that nothing reads as anything else.
import { Failure } from '../../errors.ts'

export interface ImageReference {
  /** In lower case, with the port when one is named; `docker.io` when none is. */
  host: string
  /** In full: `library/nginx`. */
  repository: string
  /** Null if only a digest identifies the image. */
  tag: string | null
  /** `sha256:` and 64 hex digits. */
  digest: string | null
  /** The normal form, as people see it and the engine gets it: `nginx:latest`, `ghcr.io/ada/web:v1`. */
  reference: string
}

const hub = 'docker.io'
/** Names of the same registry. Only one of them ever holds credentials. */
const hubAliases = new Set([hub, 'index.docker.io', 'registry-1.docker.io'])

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?'
const hostForm = new RegExp(`^${label}(?:\\.${label})*(?::(?<port>\\d{1,5}))?$`)
const repositoryPart = /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/
const tagForm = /^\w[\w.-]{0,127}$/
const digestForm = /^sha256:[0-9a-f]{64}$/
const maxLength = 512
/** The limit of registries, for host and repository together. */
const maxNameLength = 255
const maxHostLength = 253

/** Throws `invalid_request` with the reason, which never repeats the text: it may hold a secret. */
export function parseImageReference(text: string): ImageReference {
  if (text.length > maxLength) throw invalid(`is longer than ${maxLength} characters`)
  const trimmed = text.trim()
  refuseOddCharacters(trimmed)
  const { name, tag, digest } = split(trimmed)
  const { host, repository } = toFullName(name)
  checkRepository(repository)
  if (`${host}/${repository}`.length > maxNameLength) {
    throw invalid(`has a name of more than ${maxNameLength} characters`)
  }
  if (tag !== null && !tagForm.test(tag)) {
    throw invalid('has a tag that is not 1 to 128 letters, digits and _ . -, or starts with . or -')
  }
  if (digest !== null && !digestForm.test(digest)) {
    throw invalid('has a digest that is not sha256: and 64 lower-case hex digits')
  }
  return toReference(host, repository, tag ?? (digest === null ? 'latest' : null), digest)
}

/** The host of a registry as its credentials are kept under it. Throws `invalid_request`. */
export function parseRegistryHost(text: string): string {
  const host = text.toLowerCase()
  if (host.length > maxHostLength || !looksLikeHost(host) || !isHost(host)) {
    throw new Failure(
      'invalid_request',
      'host must name a registry, with a dot or a port, such as ghcr.io or registry.example.com:5000',
    )
  }
  return hubAliases.has(host) ? hub : host
}

function isHost(text: string): boolean {
  const match = hostForm.exec(text)
  const port = Number(match?.groups?.port ?? 443)
  return match !== null && port > 0 && port < 65_536
}

/** The reference to the image by its digest, independent of later changes to its tag: `nginx@sha256:…`. */
export function pinnedName({ host, repository }: ImageReference, digest: string): string {
  return toReference(host, repository, null, digest).reference
}

/** The requested reference with the digest that it resolved to: `nginx:1.27@sha256:…`. */
export function withDigest({ host, repository, tag }: ImageReference, digest: string): string {
  return toReference(host, repository, tag, digest).reference
}

function toReference(
  host: string,
  repository: string,
  tag: string | null,
  digest: string | null,
): ImageReference {
  const name = host === hub ? toHubName(repository) : `${host}/${repository}`
  const reference = name + (tag === null ? '' : `:${tag}`) + (digest === null ? '' : `@${digest}`)
  return { host, repository, tag, digest, reference }
}

/** Keeps the host if the first part has a dot: it would otherwise be read as another registry. */
function toHubName(repository: string): string {
  const short = repository.replace(/^library\/(?=[^/]+$)/, '')
  return looksLikeHost(firstPart(short)) ? `${hub}/${short}` : short
}

function refuseOddCharacters(text: string): void {
  if (text === '') throw invalid('is empty')
  if (/[\p{Cc}\s]/u.test(text)) throw invalid('has a blank or a control character')
  if (text.startsWith('-')) throw invalid('starts with -')
  if (text.includes('://'))
    throw invalid('has a scheme such as https://: start with the name of the registry')
  if (/@(?!\w+:)/.test(text)) {
    throw invalid('has an @ without a digest: credentials are stored by berth registries add HOST')
  }
}

/** A colon after the last slash starts a tag; an earlier colon is part of the host. */
function split(text: string): { name: string; tag: string | null; digest: string | null } {
  const [named = '', digest = null, ...more] = text.split('@')
  if (more.length > 0) throw invalid('has more than one @')
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  if (colon < 0) return { name: named, tag: null, digest }
  return { name: named.slice(0, colon), tag: named.slice(colon + 1), digest }
}

function toFullName(name: string): { host: string; repository: string } {
  const first = firstPart(name)
  const host = looksLikeHost(first) ? parseHost(first) : hub
  const path = looksLikeHost(first) ? name.slice(first.length + 1) : name
  return { host, repository: host === hub && !path.includes('/') ? `library/${path}` : path }
}

function firstPart(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('/')))
}

function looksLikeHost(text: string): boolean {
  return /[.:]/.test(text) || text === 'localhost'
}

function parseHost(text: string): string {
  try {
    return parseRegistryHost(text)
  } catch {
    throw invalid('has an invalid host name or port')
  }
}

function checkRepository(repository: string): void {
  if (/[A-Z]/.test(repository)) throw invalid('has upper-case letters in its name')
  if (!repository.split('/').every((part) => repositoryPart.test(part))) {
    throw invalid(
      'has a name that is not lower-case letters and digits, with single . _ - and / between them',
    )
  }
  // The engine takes these for the id of an image that is here.
  if (/^(library\/)?[0-9a-f]{64}$/.test(repository)) throw invalid('is an id, not a name')
}

function invalid(what: string): Failure {
  return new Failure('invalid_request', `image ${what}`)
}

// Refuses an `ADD` of an address that only the host should reach: the engine fetches it from the host's
// network. The engine resolves names again and follows redirects; this check does not cover that.
import { lookup } from 'node:dns/promises'
import { isHostOnly, plainAddress } from '../../address-classes.ts'
import { settleWithin } from '../../async/settle-within.ts'
import { Failure } from '../../errors.ts'
import { type Escape, linesOf } from './dockerfile-lines.ts'
import { anything, expansions, unknown, variablesOf } from './dockerfile-variables.ts'

/** A name that takes longer to resolve is not checked here. */
const lookupMs = 5000

/** The addresses of a name. */
type Resolve = (host: string) => Promise<string[]>
const resolveAll: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/** Throws `build_failed` when an `ADD` names such an address. Each character of the text is a byte. */
export async function assertPublicSources(
  text: string,
  buildArgs: Record<string, string>,
  resolve: Resolve = resolveAll,
): Promise<void> {
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  const sources = [...sourcesOf(decoded, buildArgs, '\\'), ...sourcesOf(decoded, buildArgs, '`')]
  const byHost = new Map(sources.map((source) => [hostOf(source), source]))
  for (const [host, source] of byHost) {
    const reason = host === null ? null : await whyHostOnly(host, resolve)
    if (reason !== null)
      throw new Failure('build_failed', `ADD ${displaySource(source)}: ${reason}, ${notAllowed}`)
  }
}

const notAllowed = 'which a build may not read'

/** All that an `ADD` may name. */
function sourcesOf(text: string, buildArgs: Record<string, string>, escapeChar: Escape): string[] {
  const variables = variablesOf(text, buildArgs, escapeChar)
  const words = [...linesOf(text, ['ADD'], escapeChar)].flatMap(({ rest }) => wordsOf(rest))
  return [...new Set(words)].flatMap((word) => expansions(word, variables, escapeChar))
}

/** Split by whitespace, and those of the JSON form, which any text may follow. */
function wordsOf(rest: string): string[] {
  const words = rest.split(/[\t\v\f\r ]+/)
  const [list] = /\[\s*"(?:[^"\\]|\\.)*"(?:\s*,\s*"(?:[^"\\]|\\.)*")*\s*\]/s.exec(rest) ?? []
  if (list === undefined) return words
  try {
    return [...words, ...(JSON.parse(list) as string[])]
  } catch {
    return words
  }
}

/**
 * The host of a URL or of `user@host:path`; null for a file, an empty text for a URL that cannot be read,
 * and `anything` where an unknown text may be a host.
 */
function hostOf(source: string): string | null {
  const literalPart = source.split(anything, 1)[0]!
  if (literalPart.length < source.length && mayLeadToHost(literalPart)) return anything
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(source) ?? []
  if (scheme === undefined) return /^[^/\s]+@([^:/\s]+):/.exec(source)?.[1] ?? null
  const authority = /^[^/?#\\]*/.exec(rest!)![0]
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:[^:\]]*$/, '')
  // An unknown variable: the engine's frontend decides. Without a host it fetches nothing.
  if (host === '' || host.includes(unknown)) return null
  try {
    return new URL(`http://${host}`).hostname
  } catch {
    return ''
  }
}

const schemes = ['http://', 'https://', 'git://', 'ssh://', 'git@']

function mayLeadToHost(beginning: string): boolean {
  const isScheme = schemes.some((scheme) => scheme.startsWith(beginning.toLowerCase()))
  return isScheme || /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*|[^/\s]+@[^:/\s]*)$/i.test(beginning)
}

/** The known part of the source, on one line. */
function displaySource(source: string): string {
  const text = source.replaceAll(unknown, '$…').replaceAll(anything, '…')
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

async function whyHostOnly(name: string, resolve: Resolve): Promise<string | null> {
  const host = name.replace(/\.$/, '').toLowerCase()
  if (host === anything) return 'its host cannot be determined'
  if (host === '') return 'its host cannot be read'
  if (host === 'localhost' || host.endsWith('.localhost')) return `${host} is the host itself`
  const literal = plainAddress(host)
  if (literal !== null) return isHostOnly(literal) ? `${literal} is ${kindOfHost}` : null
  const addresses = await settleWithin(
    resolve(host).catch(() => []),
    lookupMs,
    [],
  )
  const bad = addresses.find(isHostOnly)
  return bad ? `${host} resolves to ${bad}, ${kindOfHost}` : null
}

const kindOfHost = 'a loopback, link-local or metadata address'

// Refuses an `ADD` of an address that only the host should reach: the engine fetches it from the host's
// network. Mind: the engine resolves names again and follows redirects, which is not seen here.
import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../errors.ts'
import { stepsOf, wordsOf } from './dockerfile.ts'
import { expand, withVariables } from './dockerfile-variables.ts'
import { isHostOnly, plainAddress } from './host-only-address.ts'

/** The engine resolves a name again; one that takes longer here is left to it. */
const lookupMs = 5000

/** The addresses of a name. */
type Resolve = (host: string) => Promise<string[]>
const resolveAll: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/** Throws `build_failed` when an `ADD` names such an address. */
export async function refuseHostOnlySources(
  text: string,
  buildArgs: Record<string, string>,
  resolve: Resolve = resolveAll,
): Promise<void> {
  // An engine that knows no heredocs takes their lines for instructions.
  const withoutHeredocs = text.replaceAll('<<', '__')
  const sources = [...remoteSources(text, buildArgs), ...remoteSources(withoutHeredocs, buildArgs)]
  for (const source of new Set(sources)) {
    const reason = await whyHostOnly(source, resolve)
    if (reason !== null) {
      throw new Failure('build_failed', `ADD ${source}: ${reason}, which a build may not read`)
    }
  }
}

function remoteSources(text: string, buildArgs: Record<string, string>): string[] {
  const sources: string[] = []
  for (const { instruction, variables } of withVariables(stepsOf(text), buildArgs)) {
    if (instruction.getKeyword() !== 'ADD') continue
    const words = wordsOf(instruction).map((word) => expand(word, variables))
    sources.push(...words.filter((word) => hostOf(word) !== null))
  }
  return sources
}

/** The host of a URL or of `user@host:path`; null for a file, an empty text for a URL that cannot be read. */
function hostOf(source: string): string | null {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(source) ?? []
  if (scheme === undefined) return /^[^/\s]+@([^:/\s]+):/.exec(source)?.[1] ?? null
  const authority = /^[^/?#\\]*/.exec(rest!)![0]
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:[^:\]]*$/, '')
  try {
    return new URL(`http://${host}`).hostname
  } catch {
    return ''
  }
}

async function whyHostOnly(source: string, resolve: Resolve): Promise<string | null> {
  const host = hostOf(source)!.replace(/\.$/, '').toLowerCase()
  // A variable that is not known here: the engine's frontend decides.
  if (host.includes('$')) return null
  if (host === '') return 'its host cannot be read'
  if (host === 'localhost' || host.endsWith('.localhost')) return `${host} is the host itself`
  const literal = plainAddress(host)
  if (literal !== null) return isHostOnly(literal) ? `${literal} is ${kindOfHost}` : null
  const timeout = sleep<string[]>(lookupMs, [], { ref: false })
  const found = await Promise.race([resolve(host).catch(() => []), timeout])
  const bad = found.find(isHostOnly)
  return bad ? `${host} leads to ${bad}, ${kindOfHost}` : null
}

const kindOfHost = 'a loopback, link-local or metadata address'

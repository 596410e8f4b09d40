// Where the files of Git LFS of a repository are, and how its server is asked. The address follows from that
// of the repository: `.lfsconfig` is written by strangers and could name any other.
import { z } from 'zod'
import { codeOf, Failure } from '../../errors.ts'
import { readAnswer } from '../../readers/json.ts'
import { type Credentials, createMask, type Mask } from '../credentials.ts'
import { remoteEnvironment } from '../environment.ts'
import { GitError, runProgram } from '../process.ts'
import type { RemotePlace } from '../remote.ts'
import { adviceFor } from '../remote-failure.ts'
import { pinHost } from '../remote-host.ts'
import { sshParts } from '../repository.ts'
import { withSshKey } from '../ssh.ts'
import { parseLfsUrl } from './request.ts'

export interface LfsServer {
  url: URL
  /** For its own origin. */
  headers(): Record<string, string>
  /** Hides what is secret of the headers. */
  mask: Mask
  /** Whether there are other credentials after these were refused. */
  renew(): Promise<boolean>
  /** What to do if it refuses. */
  advice: string
}

export type LfsPlace = Omit<RemotePlace, 'localRepositories'>

/** Null for a path of this host. Throws what a fetch throws. */
export async function openLfsServer(place: LfsPlace): Promise<LfsServer | null> {
  const { kind, url } = place.repository
  if (kind === 'path') return null
  const advice = adviceFor(place)
  if (kind === 'ssh') return { ...(await askOverSsh(place)), advice }
  let { credentials } = place
  return {
    url: new URL(`${url.replace(/\.git$/, '')}.git/info/lfs`),
    headers: () => (credentials === null ? {} : { authorization: basic(credentials) }),
    mask: (text) => createMask(credentials)(text),
    async renew() {
      const renewed = (await credentials?.connection?.renew()) ?? null
      if (renewed) credentials = renewed
      return renewed !== null
    },
    advice,
  }
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

const maxReasonLength = 200

/** They decide where a request goes and where it ends. */
const refusedHeaders = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect)$/i

const maxHeaders = 20

/** An address that a server names, with headers for it alone. */
export const Address = z.object({
  href: z.string().max(16_384),
  header: z
    .custom<object>((named) => Object.keys(named ?? {}).length <= maxHeaders)
    .pipe(z.record(z.string().max(256), z.string().max(16_384)))
    .nullish()
    .transform((named) =>
      Object.fromEntries(Object.entries(named ?? {}).filter(([name]) => !refusedHeaders.test(name))),
    ),
})

/** The ssh server names the address, and headers for it that end after a while. */
async function askOverSsh(place: LfsPlace): Promise<Omit<LfsServer, 'advice'>> {
  const { repository, ssh, hostRules, marker, signal, directory: cwd } = place
  await pinHost(repository, hostRules)
  const { user, hostname, port, path } = sshParts(repository)!
  const to = [...(port === '' ? [] : ['-p', port]), user === '' ? hostname : `${user}@${hostname}`]
  const args = [...to, `git-lfs-authenticate '${path}' download`]
  const run = (variables: Parameters<typeof remoteEnvironment>[2]['ssh']) => {
    const env = remoteEnvironment(repository, null, { marker, pinned: null, ssh: variables })
    const shell = ['-c', `${env.GIT_SSH_COMMAND} "$@"`, 'ssh', ...args]
    return runProgram('sh', shell, { cwd, env, mask: createMask(null), onLine: () => undefined, signal })
  }
  try {
    const output = await (ssh?.key ? withSshKey(ssh.key, repository, run) : run(null))
    const { href, header } = Address.parse(await readAnswer(Buffer.from(output), { owner: hostname }))
    const secrets = Object.values(header).flatMap((value) => [value, value.split(' ').at(-1)!])
    return {
      url: parseLfsUrl(href, new URL(`http://${hostname}`)),
      headers: () => header,
      mask: (text) =>
        secrets.reduce((rest, secret) => (secret ? rest.replaceAll(secret, '***') : rest), text),
      renew: async () => false,
    }
  } catch (error) {
    const said = saidBy(error)
    if (said === null) throw error
    throw new Failure('git_remote_unreachable', `${repository.url} does not say where its Git LFS is${said}`)
  }
}

/** Null for an error that is not the answer of the server. */
function saidBy(error: unknown): string | null {
  if (error instanceof GitError) return `: ${(error.outputLines.at(-1) ?? '').slice(0, maxReasonLength)}`
  return error instanceof z.ZodError || codeOf(error) === 'invalid_request' ? '' : null
}

// Credentials of registries, in the forms that the two builders take them. Pure.
import { lookup } from 'node:dns/promises'
import { isInternal, plainAddress } from '../../address-classes.ts'
import { Failure } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { describePullFailure } from './pull-failure.ts'

export interface RegistryCredentials {
  /** The host as in image names, `host` or `host:port` in lower case; `docker.io` for Docker Hub. */
  host: string
  username: string
  password: string
}

const hub = 'docker.io'
/** BuildKit's name of Docker Hub; the rest of the engine uses another one. */
const hubOfBuildKit = 'registry-1.docker.io'
const hubOfEngine = 'https://index.docker.io/v1/'

/** The credentials that BuildKit requests for `host`; null if none are stored. */
export function credentialsFor(
  registries: readonly RegistryCredentials[],
  host: string,
): RegistryCredentials | null {
  const registryHost = host === hubOfBuildKit ? hub : host
  return registries.find((registry) => registry.host === registryHost) ?? null
}

/** A registry as the engine knows it: credentials for any other address are passed over. */
export function serverAddressOf(host: string): string {
  return host === hub ? hubOfEngine : host
}

/** A header of classic builds: base64 in the alphabet of URLs, padded. The engine passes over any other. */
export function toRegistryConfig(registries: readonly RegistryCredentials[]): string {
  const entries = registries.map(({ host, username, password }) => {
    const serveraddress = serverAddressOf(host)
    return [serveraddress, { username, password, serveraddress }]
  })
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  return json.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}

const hint = 'berth registries add --no-verify stores them unchecked'

/**
 * Throws `invalid_request` if the registry refuses the credentials, `docker_error` if it could not be
 * reached, and `docker_unavailable` without an engine.
 */
export async function checkLogin(engine: Engine, credentials: RegistryCredentials): Promise<void> {
  const { host, username, password } = credentials
  await refuseInternal(host)
  const serveraddress = serverAddressOf(host)
  try {
    await engine.call('check a login', (abortSignal) =>
      engine.docker.checkAuth({ username, password, serveraddress, abortSignal }),
    )
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'docker_error') throw error
    const { code } = describePullFailure(error.message, { reference: host, host, credentials })
    if (code === 'registry_unauthorized') {
      throw new Failure('invalid_request', `${host} refuses the username or the password`, hint)
    }
    const reason = error.message.replaceAll(password, '***')
    throw new Failure('docker_error', `${host} cannot be reached: ${reason}`, hint)
  }
}

/** Throws `invalid_request` for link-local and metadata addresses; a registry on this host is fine. */
async function refuseInternal(host: string): Promise<void> {
  const name = host.replace(/:\d+$/, '')
  const literal = plainAddress(name)
  // A name that does not resolve is accepted here, because the engine reports it with its own message.
  const addresses = literal ? [literal] : (await lookup(name, { all: true }).catch(() => [])).map(addressIn)
  if (!addresses.some(isInternal)) return
  throw new Failure('invalid_request', `${host} resolves to a link-local or metadata address`)
}

function addressIn({ address }: { address: string }): string {
  return address
}

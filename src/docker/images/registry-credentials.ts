// Credentials of registries, in the forms that the two builders take them. Pure.

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

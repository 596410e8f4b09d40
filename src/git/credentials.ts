// Passes credentials to git through its environment only, for the helper below. `http.extraHeader` would be
// unsafe, because git also sends it to the host of a redirect.
import { Failure } from '../errors.ts'

export interface Credentials {
  username: string
  password: string
  /** The git connection that supplied them; missing for those of an address. */
  connection?: CredentialSource
}

export interface CredentialSource {
  /** As in `the GitHub connection of ada`. */
  title: string
  /** Other credentials after the remote refused these; null if there are none. Never rejects. */
  renew(): Promise<Credentials | null>
}

export type Mask = (text: string) => string

/** git runs the helper itself. Its other operations, "store" and "erase", do nothing. */
const response = 'printf "username=%s\\npassword=%s\\n" "$BERTH_GIT_USERNAME" "$BERTH_GIT_PASSWORD"'
const credentialHelper = `!f() { test "$1" = get && ${response}; }; f`

/** Throws `invalid_request` for what git's line-based protocol or HTTP basic auth cannot carry. */
export function checkCredentials(credentials: Credentials): Credentials {
  if (/\p{Cc}/u.test(credentials.username + credentials.password)) {
    throw new Failure(
      'invalid_request',
      'the user name or password of the repository has a control character',
    )
  }
  if (credentials.username.includes(':')) {
    throw new Failure('invalid_request', 'the user name of the repository has a colon')
  }
  // git would not send such a password at all, and the remote would seem to refuse it.
  if (credentials.username === '' && credentials.password !== '') {
    throw new Failure(
      'invalid_request',
      'the repository has a password without a user name: put one before it (https://user:token@…)',
    )
  }
  return credentials
}

/** The git configuration that gives these credentials to this origin only. */
export function credentialConfig(origin: string): [key: string, value: string][] {
  return [[`credential.${origin}.helper`, credentialHelper]]
}

export function credentialVariables(credentials: Credentials): Record<string, string> {
  return { BERTH_GIT_USERNAME: credentials.username, BERTH_GIT_PASSWORD: credentials.password }
}

/** The second line of defence: these credentials are masked in all output of git and of a remote. */
export function createMask(credentials: Credentials | null): Mask {
  const secrets = credentials === null ? [] : spellings(credentials)
  return (text) => {
    const bare = secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    return bare.replace(/(https?:\/\/)[^/@\s]+@/gi, '$1***@')
  }
}

/** Longest first, so that a shorter one cuts none. Very short spellings would mask ordinary words. */
function spellings({ username, password }: Credentials): string[] {
  const secret = password === '' ? username : password
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  const all = [basic, encodeURIComponent(secret), secret].filter((spelling) => spelling.length >= 4)
  return all.sort((one, other) => other.length - one.length)
}

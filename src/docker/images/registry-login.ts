// Checks whether a registry accepts credentials. The engine sends the request, as `docker login` does, and
// stores nothing. The host is untrusted input: no request is sent to a host that resolves to the internal
// services of a cloud.
import { lookup } from 'node:dns/promises'
import { isInternal, plainAddress } from '../../address-classes.ts'
import { Failure } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { describePullFailure } from './pull-failure.ts'
import { type RegistryCredentials, serverAddressOf } from './registry-credentials.ts'

const hint = 'berth registries add --no-verify stores them unchecked'

/** Throws `invalid_request` for refused credentials, `docker_error` for an unreachable registry. */
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

// The deploy key of a service: it reads the service's repository over ssh, without an account.
import { join } from 'node:path'
import type { DeployKey } from '../../../storage/deploy-keys.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { removeTree } from '../../archive/removal.ts'
import { messageOf } from '../../errors.ts'
import type { SshAccess } from '../../git/ssh.ts'
import { createSshKey, fingerprintOf } from '../../git/ssh-key.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'

/** What may be shown of a key and of the hosts that are pinned. */
export interface ShownDeployKey {
  publicKey: string
  fingerprint: string
  createdAt: string
  hosts: { host: string; type: string; fingerprint: string; pinnedAt: string }[]
}

export interface DeployKeys {
  /** Null without a key. */
  show(serviceId: string): ShownDeployKey | null
  /** The key that the service has then: a former one stays unless it is replaced. */
  create(service: Pick<ServiceRow, 'id' | 'name'>, options: { replaces: boolean }): Promise<ShownDeployKey>
}

export function openDeployKeys({ deployKeys }: Storage): DeployKeys {
  const show = (id: string) => {
    const key = deployKeys.get(id)
    return key && toShown(key)
  }
  return {
    show,
    async create({ id, name }, options) {
      await deployKeys.put(id, { ...createSshKey(`berth-${name}`), createdAt: isoNow() }, options)
      return show(id)!
    },
  }
}

function toShown({ publicKey, createdAt, hosts }: DeployKey): ShownDeployKey {
  return {
    publicKey,
    fingerprint: fingerprintOf(publicKey.split(' ')[1]!),
    createdAt,
    hosts: hosts.map(({ host, type, key, pinnedAt }) => {
      return { host, type, fingerprint: fingerprintOf(key), pinnedAt }
    }),
  }
}

/** Among the work directories of deploys. */
export const keysFolder = 'ssh-keys'

const directoryIn = (dataDir: string) => join(dataDir, 'work', keysFolder)

export function sshAccessOf(
  { directory, deployKeys }: Storage,
  { id, name }: Pick<ServiceRow, 'id' | 'name'>,
): SshAccess {
  const stored = deployKeys.get(id)
  return {
    command: `berth deploy-key ${name}`,
    key: stored && {
      privateKey: stored.privateKey,
      directory: directoryIn(directory),
      pinned: () => deployKeys.get(id)?.hosts ?? [],
      pin: (found) =>
        deployKeys.pin(
          id,
          found.map((one) => ({ ...one, pinnedAt: isoNow() })),
        ),
    },
  }
}

/** At the start, those of a daemon that was killed while git ran. A file that stays does not prevent it. */
export async function removeKeyFiles({ storage, logger }: Pick<SharedPorts, 'storage' | 'logger'>) {
  const path = directoryIn(storage.directory)
  await removeTree(path).catch((error: unknown) =>
    logger.error({ path, reason: messageOf(error) }, 'files of deploy keys could not be removed'),
  )
}

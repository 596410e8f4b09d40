// A fast fake hasher that records what was hashed and verified, and the highest concurrency.
import type { Hasher } from '../../../src/account/passwords.ts'

interface CountingHasher extends Hasher {
  readonly hashed: string[]
  /** The hashes that passwords were compared with. */
  readonly verified: string[]
  readonly mostAtOnce: number
}

interface Options {
  /** By default, whether the hash is that of the password. */
  isRight?: (known: string, password: string) => boolean
  /** Awaited before each result. */
  pause?: () => Promise<void>
}

export const plainHash = (password: string) => `hash of ${password}`

export function countingHasher(options: Options = {}): CountingHasher {
  const { isRight = (known, password) => known === plainHash(password), pause = turn } = options
  const hashed: string[] = []
  const verified: string[] = []
  let atOnce = 0
  let maxConcurrent = 0

  async function work(): Promise<void> {
    maxConcurrent = Math.max(maxConcurrent, ++atOnce)
    await pause()
    atOnce--
  }

  return {
    hashed,
    verified,
    get mostAtOnce() {
      return maxConcurrent
    },
    async hash(password) {
      hashed.push(password)
      await work()
      return plainHash(password)
    },
    async verify(known, password) {
      verified.push(known)
      await work()
      return isRight(known, password)
    },
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

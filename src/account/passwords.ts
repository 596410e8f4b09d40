// Hashes passwords with argon2id, off the event loop and few at a time, because each hash takes 64 MiB. A
// check without an account also computes one hash; otherwise its time would reveal which e-mail exists.
import pLimit from 'p-limit'

/** 64 MiB, three passes, four lanes: argon2's defaults, written down so that no update weakens them. */
export const argon2Options = { memoryCost: 65_536, timeCost: 3, parallelism: 4 } as const
const maxConcurrentHashes = 2

/** The hash of a password that no account has, for constant-time comparison. */
export const dummyHash =
  '$argon2id$v=19$m=65536,t=3,p=4$45swb1VvzvnWjSqghpFN2Q$biKKEe7chEe0SofQazzxxhnDu7nxvsHtPIxQb1VbUqM'

export interface Hasher {
  hash(password: string, options: typeof argon2Options): Promise<string>
  verify(known: string, password: string): Promise<boolean>
}

/** Loaded at the first sign-in, to keep the start of the daemon fast. */
const argon2: Hasher = {
  async hash(password, options) {
    const { argon2id, hash } = await import('argon2')
    return hash(password, { type: argon2id, ...options })
  },
  async verify(known, password) {
    const { verify } = await import('argon2')
    return verify(known, password)
  },
}

export function createPasswords(hasher: Hasher = argon2) {
  const limit = pLimit(maxConcurrentHashes)
  return {
    hash: (password: string) => limit(() => hasher.hash(password, argon2Options)),
    /** `known` is the stored hash; null never matches. Computes one hash in either case. */
    async matches(known: string | null, password: string): Promise<boolean> {
      const isRight = await limit(() => hasher.verify(known ?? dummyHash, password))
      return isRight && known !== null
    },
  }
}

export type Passwords = ReturnType<typeof createPasswords>

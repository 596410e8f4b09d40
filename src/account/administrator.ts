// The administrator account: setup, sign-in, password change. The order of the checks is part of the API: a
// request that fails early uses up no attempt.
import pLimit from 'p-limit'
import type { AccountRow } from '../../storage/access/account.ts'
import type { SessionRow } from '../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../storage/index.ts'
import type { Commit } from '../../storage/store/store.ts'
import { Failure } from '../errors.ts'
import type { Attempts } from './attempts.ts'
import type { Passwords } from './passwords.ts'
import { hashOf, matchesHash, newSecret } from './secrets.ts'

interface Credentials {
  /** Trimmed, in lower case. */
  email: string
  password: string
}

export interface SignedIn {
  account: AccountRow
  session: SessionRow
  /** Goes into the cookie, and is stored nowhere else. */
  secret: string
  /** Goes into the device cookie. */
  device: string
}

interface PasswordChange {
  current: string
  next: string
  revokeTokens: boolean
}

interface AdministratorParts {
  storage: Pick<Storage, 'account' | 'commit' | 'devices' | 'ids' | 'sessions' | 'setupCode' | 'tokens'>
  attempts: Attempts
  passwords: Passwords
  now?: () => number
}

const userAgentChars = 300

export class Administrator {
  readonly #storage: AdministratorParts['storage']
  readonly #attempts: Attempts
  readonly #passwords: Passwords
  readonly #now: () => number
  readonly #setupLimit = pLimit(1)

  constructor({ storage, attempts, passwords, now = Date.now }: AdministratorParts) {
    this.#storage = storage
    this.#attempts = attempts
    this.#passwords = passwords
    this.#now = now
  }

  get(): AccountRow | null {
    return this.#storage.account.get()
  }

  /**
   * Has no limit: the code has 144 random bits, and a limit would let strangers keep the owner out. Throws
   * `already_set_up`, then `invalid_setup_code`.
   */
  assertSetupCode(code: string): void {
    this.#assertNoAccount()
    const known = this.#storage.setupCode.read()
    if (known !== null && matchesHash(code.trim(), hashOf(known))) return
    throw new Failure(
      'invalid_setup_code',
      'this is not the setup code of this server',
      'the server printed the link when it started; the code is in its data directory, in setup_code',
    )
  }

  /** Serialized: the first of several calls creates the account. Throws `already_set_up`. */
  setUp(credentials: Credentials, userAgent: string | undefined): Promise<SignedIn> {
    return this.#setupLimit(() => this.#createAccount(credentials, userAgent))
  }

  /** Throws `conflict` before setup. */
  requireAccount(): AccountRow {
    const account = this.get()
    if (account) return account
    const hint = 'open the setup link that the server printed when it started'
    throw new Failure('conflict', 'this server has no account yet', hint)
  }

  /**
   * Unknown clients share one limit; each browser that has signed in before, and sends its device cookie, has
   * its own. Throws `too_many_attempts`, `invalid_credentials`, and `conflict` before setup.
   */
  async signIn(
    { email, password }: Credentials,
    userAgent: string | undefined,
    devices: readonly string[] = [],
  ): Promise<SignedIn> {
    const account = this.requireAccount()
    const device = devices.map((one) => this.#storage.devices.open(one, account)).find((id) => id !== null)
    const known = account.email === email ? account.password_hash : null
    const attemptKey = device ? (`sign_in/${device}` as const) : 'sign_in'
    if (!(await this.#attempts.guess(attemptKey, () => this.#passwords.matches(known, password)))) {
      throw new Failure('invalid_credentials', 'the e-mail or the password is wrong')
    }
    return this.#storage.commit((commit) => {
      this.#assertPasswordUnchanged(account)
      return this.#openSession(commit, account, userAgent, device)
    })
  }

  /** Throws `too_many_attempts`, `invalid_credentials`. */
  async checkPassword(password: string): Promise<void> {
    const { password_hash } = this.get()!
    const isRight = () => this.#passwords.matches(password_hash, password)
    if (await this.#attempts.guess('current_password', isRight)) return
    throw new Failure('invalid_credentials', 'the password is wrong')
  }

  /**
   * Ends other sessions, and on request revokes all tokens. Resolves with a new device cookie, because old
   * ones are invalid now. Throws `too_many_attempts`, `invalid_credentials`, `unauthorized`.
   */
  async changePassword(sessionId: string, { current, next, revokeTokens }: PasswordChange): Promise<string> {
    const { account, sessions, tokens } = this.#storage
    const previous = account.get()!
    await this.checkPassword(current)
    const passwordHash = await this.#passwords.hash(next)
    return this.#storage.commit((commit) => {
      this.#assertPasswordUnchanged(previous)
      // Hashing takes time, and the user may have ended a stolen session in the meantime.
      if (!sessions.byId(sessionId)) throw new Failure('unauthorized', 'this session has ended')
      account.setPassword(commit, passwordHash)
      for (const { id } of sessions.list()) if (id !== sessionId) sessions.removeWithin(commit, id)
      if (revokeTokens) for (const { id } of tokens.list()) tokens.removeWithin(commit, id)
      return this.#sealDevice(account.get()!)
    })
  }

  async #createAccount({ email, password }: Credentials, userAgent: string | undefined): Promise<SignedIn> {
    this.#assertNoAccount()
    const { account: accounts, ids, setupCode } = this.#storage
    const password_hash = await this.#passwords.hash(password)
    const account = { id: ids.newId('usr'), email, password_hash, created_at: this.#isoNow() }
    const signedIn = await this.#storage.commit((commit) => {
      accounts.create(commit, account)
      return this.#openSession(commit, account, userAgent)
    })
    setupCode.remove()
    return signedIn
  }

  /** Only inside a commit. */
  #openSession(
    commit: Commit,
    account: AccountRow,
    userAgent: string | undefined,
    device?: string,
  ): SignedIn {
    const at = this.#isoNow()
    const user_agent = userAgent ? [...userAgent].slice(0, userAgentChars).join('') : null
    const session = { id: this.#storage.ids.newId('ses'), created_at: at, last_used_at: at, user_agent }
    const secret = newSecret('bths_')
    this.#storage.sessions.insert(commit, secret, session)
    return { account, session, secret, device: this.#sealDevice(account, device) }
  }

  /** A browser keeps its id, so that a new sign-in does not reset its limit. */
  #sealDevice(account: AccountRow, id: string = newSecret()): string {
    return this.#storage.devices.seal(id, account)
  }

  #assertNoAccount(): void {
    if (!this.get()) return
    throw new Failure('already_set_up', 'this server already has an account', 'sign in instead')
  }

  /** Rejects a password that was replaced while it was being verified. Only inside a commit. */
  #assertPasswordUnchanged({ password_hash }: AccountRow): void {
    if (this.get()?.password_hash === password_hash) return
    throw new Failure('invalid_credentials', 'the password was changed in the meantime')
  }

  #isoNow(): string {
    return new Date(this.#now()).toISOString()
  }
}

// The setup code: a user who can read it on this server may create the account.
// The file exists only until the account is created.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivateFile } from '../store/private-file.ts'

const pattern = /^[A-Za-z0-9_-]{24}$/

export function openSetupCode(directory: string) {
  const path = join(directory, 'setup_code')
  const addressPath = join(directory, 'setup_address')

  /** Null for a missing or truncated code: the setup is then refused. */
  function read(): string | null {
    const code = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
    return pattern.test(code) ? code : null
  }

  return {
    read,
    /** Reuses an existing code, so that a start needs no free space on the disk. */
    ensure(): string {
      const storedCode = read()
      if (storedCode !== null) {
        chmodSync(path, 0o600)
        return storedCode
      }
      const code = randomBytes(18).toString('base64url')
      createPrivateFile(path, `${code}\n`)
      return code
    },
    /** Where the server listens that was started last; null before the first start. */
    address: () => (existsSync(addressPath) ? readFileSync(addressPath, 'utf8').trim() : null),
    /** On a full disk, the link gets the usual address. */
    saveAddress(url: string): void {
      rmSync(addressPath, { force: true })
      try {
        createPrivateFile(addressPath, `${url}\n`)
      } catch {
        rmSync(addressPath, { force: true })
      }
    },
    remove() {
      for (const one of [path, addressPath]) rmSync(one, { force: true })
    },
  }
}

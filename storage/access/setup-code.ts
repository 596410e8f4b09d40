// The setup code: whoever can read it on this server may make the account (section 5 of the API document).
// It is there while there is no account, and no longer.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivateFile } from '../store/private-file.ts'

const pattern = /^[A-Za-z0-9_-]{24}$/

/** `<directory>/setup_code`. */
export function openSetupCode(directory: string) {
  const path = join(directory, 'setup_code')

  /** null without a whole one: then nobody can set up. */
  function read(): string | null {
    const code = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
    return pattern.test(code) ? code : null
  }

  return {
    read,
    /** The one that is there, or a new one: a start must not need room on the disk. */
    ensure(): string {
      const known = read()
      if (known !== null) {
        chmodSync(path, 0o600)
        return known
      }
      const code = randomBytes(18).toString('base64url')
      createPrivateFile(path, `${code}\n`)
      return code
    },
    remove: () => rmSync(path, { force: true }),
  }
}

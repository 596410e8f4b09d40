// `berthd reset-password`: sets a new password for an administrator with access to the server itself. It ends
// all sessions and resets the limit on failed attempts. Tokens stay valid unless --revoke-tokens is given.
import { openAccountAccess } from '../../storage/access/account-access.ts'
import { isPassword, passwordRule } from '../account/password-rule.ts'
import { createPasswords } from '../account/passwords.ts'
import { askTwice, readLine } from '../ask-secret.ts'
import { readConfig } from '../config/config.ts'
import { Failure } from '../errors.ts'

export const resetPasswordHelp = `usage: berthd reset-password [--data-dir DIR] [--revoke-tokens]

Sets a new password for the account of this server, also while it runs. It is
asked for twice, without echo; or it is one line of standard input:

  berthd reset-password --data-dir /var/lib/berth
  berthd reset-password < new-password.txt

All sessions end. API tokens stay, unless --revoke-tokens is given: then all are
revoked but the server's own, which is the file api_token of the data directory.
`

const revokeFlag = '--revoke-tokens'

/** Resolves with a message about what was done. Throws `invalid_request`, `not_found`, `interrupted`. */
export async function resetPassword(args: string[], stdin: NodeJS.ReadStream): Promise<string> {
  const revokesTokens = args.includes(revokeFlag)
  const { 'data-dir': directory } = readConfig(
    args.filter((arg) => arg !== revokeFlag),
    process.env,
  )
  const access = openAccountAccess(directory, {
    onPanic: (reason) => void process.stderr.write(`${reason}\n`),
  })
  try {
    const account = access.account.get()
    if (!account) {
      const hint = 'open the setup link that it printed when it started'
      throw new Failure('not_found', 'this server has no account yet', hint)
    }
    const requirePassword = (password: string) => {
      if (!isPassword(password)) throw new Failure('invalid_request', `the password ${passwordRule}`)
    }
    const password = stdin.isTTY ? await askTwice(stdin, 'password', requirePassword) : await readLine(stdin)
    requirePassword(password)
    const passwordHash = await createPasswords().hash(password)
    const { sessions, tokens } = await access.commit((commit) => {
      const open = access.sessions.list()
      const revoked = revokesTokens ? access.tokens.list() : []
      access.account.setPassword(commit, passwordHash)
      access.attempts.clear()
      for (const { id } of open) access.sessions.removeWithin(commit, id)
      for (const { id } of revoked) access.tokens.removeWithin(commit, id)
      const subject = { kind: 'account', id: account.id, name: account.email }
      const changed = revokesTokens ? ['password', 'revoke_tokens'] : ['password']
      access.audit.putHostCommand({ action: 'account.reset_password', subject, changed })
      return { sessions: open.length, tokens: revoked.length }
    })
    const ended = sessions === 1 ? '1 session has' : `${sessions} sessions have`
    const done = `The password of ${account.email} is set; ${ended} ended`
    if (!revokesTokens) return `${done}.`
    return `${done}, and ${tokens === 1 ? '1 token is' : `${tokens} tokens are`} revoked.`
  } finally {
    await access.close()
  }
}

// `berthd reset-password`: sets a new password for an administrator with access to the server itself. It ends
// all sessions and resets the limit on failed attempts. Tokens stay valid unless --revoke-tokens is given.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { openAccountAccess } from '../storage/access/account-access.ts'
import { isPassword, passwordRule } from './account/password-rule.ts'
import { createPasswords } from './account/passwords.ts'
import { readConfig } from './config/config.ts'
import { Failure } from './errors.ts'

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
    const password = stdin.isTTY ? await promptTwice(stdin) : firstLine(await text(stdin))
    if (!isPassword(password)) throw new Failure('invalid_request', `the password ${passwordRule}`)
    const passwordHash = await createPasswords().hash(password)
    const { sessions, tokens } = await access.commit((commit) => {
      const open = access.sessions.list()
      const revoked = revokesTokens ? access.tokens.list() : []
      access.account.setPassword(commit, passwordHash)
      access.attempts.clear()
      for (const { id } of open) access.sessions.removeWithin(commit, id)
      for (const { id } of revoked) access.tokens.removeWithin(commit, id)
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

/** Typed characters are not shown. */
async function promptTwice(input: NodeJS.ReadStream): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  lines.once('SIGINT', () => lines.close())
  const typed = lines[Symbol.asyncIterator]()
  try {
    const password = await ask('New password: ', typed)
    if (!isPassword(password)) throw new Failure('invalid_request', `the password ${passwordRule}`)
    if (password === (await ask('Again: ', typed))) return password
    throw new Failure('invalid_request', 'the two passwords differ')
  } finally {
    lines.close()
  }
}

async function ask(question: string, typed: AsyncIterator<string>): Promise<string> {
  process.stderr.write(question)
  const { value, done } = await typed.next()
  process.stderr.write('\n')
  if (!done) return value
  throw new Failure('interrupted', 'interrupted: the password was not changed')
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0]!
}

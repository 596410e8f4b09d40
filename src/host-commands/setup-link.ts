// The link that creates the account of a server: on the console, or from `berthd setup-link`. It is not
// logged, because logs are collected and stored, and more users than root read the journal.
import { accessSync, constants, fstatSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { openSetupCode } from '../../storage/access/setup-code.ts'
import { readConfig } from '../config/config.ts'
import { Failure } from '../errors.ts'

export const setupLinkHelp = `usage: berthd setup-link [--data-dir DIR]

Prints the link that creates the account of this server. It is valid until the
account exists.
`

/** Throws `invalid_option`, `not_found`. */
export async function setupLink(args: string[]): Promise<string> {
  const { 'data-dir': directory, listen } = readConfig(args, process.env)
  try {
    accessSync(directory, constants.X_OK)
  } catch (error) {
    throw new Failure('not_found', (error as Error).message, 'run it as root, or name --data-dir')
  }
  const setupCode = openSetupCode(directory)
  const code = setupCode.read()
  const url = setupCode.address() ?? `http://${listen}`
  if (code !== null) return invitation({ url, code, env: process.env })
  const reason = `${directory} has no setup code: the account exists, or the server has not started yet`
  throw new Failure('not_found', reason, 'berthd reset-password sets a new password for the account')
}

/** Whether standard output goes to the journal. A shell may have inherited the variable. */
export function printsToJournal(env: NodeJS.ProcessEnv): boolean {
  const { dev, ino } = fstatSync(1)
  return env.JOURNAL_STREAM === `${dev}:${ino}`
}

export interface Invitation {
  url: string
  code: string
  /** Shows whether the user is connected by ssh, and to which address. */
  env: NodeJS.ProcessEnv
}

/** Lines to print unchanged. */
export function invitation({ url, code, env }: Invitation): string {
  const server = new URL(url)
  if (isWildcard(server.hostname)) server.hostname = '127.0.0.1'
  const link = new URL(`/setup?code=${code}`, server)
  const lines = ['', '  This server has no account yet. Open this link to create it:', '', `    ${link}`, '']
  return `${[...lines, ...tunnelLines(server, env)].join('\n')}\n`
}

/** The browser is at the other end of the ssh connection, where loopback is another machine. */
function tunnelLines({ hostname: name, port: shown }: URL, env: NodeJS.ProcessEnv): string[] {
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(name)) return []
  const port = shown || '80'
  const server = env.SSH_CONNECTION?.split(' ')[2] ?? hostname()
  const command = `ssh -N -L ${port}:${name}:${port} ${userName(env)}@${server}`
  return ['  With the browser on another machine, run this there first:', '', `    ${command}`, '']
}

/** Who called sudo logs in as themselves. A daemon in a container may run as a user id without a name. */
function userName({ SUDO_USER, USER = 'root' }: NodeJS.ProcessEnv): string {
  try {
    return SUDO_USER || userInfo().username
  } catch {
    return USER
  }
}

function isWildcard(name: string): boolean {
  return name === '0.0.0.0' || name === '[::]'
}

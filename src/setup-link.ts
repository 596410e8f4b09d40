// The console output of a server without an account: the link that creates one. It is not logged, because
// logs are collected and stored. As a service it is in the journal, which root can read.
import { hostname, userInfo } from 'node:os'

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

/** A daemon in a container may run as a user id without a name. */
function userName({ USER = 'root' }: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username
  } catch {
    return USER
  }
}

function isWildcard(name: string): boolean {
  return name === '0.0.0.0' || name === '[::]'
}

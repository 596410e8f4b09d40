// A real sshd on a free port of loopback, that runs git for the keys that it is given. It is started for each
// connection, like by inetd, so that a change of its host key or of the allowed keys needs no restart.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { hasApt, installPackages, isRoot } from '../system/apt.ts'
import { hasCommand, run } from '../system/command.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'

export interface SshServer {
  /** Of a repository by its path on this host. */
  url(path: string): string
  /** As in known_hosts. */
  host: string
  /** Only this key is let in from now on. */
  allow(publicKey: string): void
  /** Resolves with the fingerprint of its new key. */
  replaceHostKey(type?: 'ed25519' | 'ecdsa'): Promise<string>
  /** Its programs wait before they begin, until the returned function is called. */
  hold(): () => void
  /** Whether a program waits. */
  isHeld(): boolean
  /** Connections so far. */
  count(): number
  /** Lets `git-lfs-authenticate` print this; null lets it fail. */
  answerLfs(text: string | null): void
  /** The command that it was. */
  lfsAsked(): string
}

export async function createSshServer(t: Scope): Promise<SshServer> {
  await ensureSshd()
  const directory = temporaryDirectory(t)
  const at = (name: string) => join(directory, name)
  writeFileSync(at('run'), script(directory))
  chmodSync(at('run'), 0o755)
  writeFileSync(at('authorized_keys'), '')
  writeFileSync(at('sshd_config'), config(directory))
  const children = new Set<ChildProcess>()
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const args = ['-i', '-e', '-f', at('sshd_config')]
    const child = spawn('/usr/sbin/sshd', args, { stdio: [socket, socket, 'ignore'] })
    children.add(child)
    child.on('exit', () => children.delete(child))
    socket.on('error', () => undefined).destroy()
    count++
  })
  let count = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const child of children) child.kill()
  })
  const { port } = server.address() as AddressInfo
  const replaceHostKey: SshServer['replaceHostKey'] = async (type = 'ed25519') => {
    for (const name of ['host_key', 'host_key.pub']) rmSync(at(name), { force: true })
    await run('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', at('host_key')])
    return /SHA256:\S+/.exec(await run('ssh-keygen', ['-l', '-f', at('host_key.pub')]))![0]
  }
  await replaceHostKey()
  return {
    url: (path) => `ssh://${userInfo().username}@127.0.0.1:${port}${path}`,
    host: `[127.0.0.1]:${port}`,
    allow: (key) => writeFileSync(at('authorized_keys'), `command="${at('run')}",restrict ${key}\n`),
    replaceHostKey,
    hold() {
      writeFileSync(at('hold'), '')
      return () => rmSync(at('hold'), { force: true })
    },
    isHeld: () => existsSync(at('held')) && readFileSync(at('held'), 'utf8') !== '',
    count: () => count,
    answerLfs: (text) => (text === null ? rmSync(at('lfs')) : writeFileSync(at('lfs'), text)),
    lfsAsked: () => readFileSync(at('lfs-asked'), 'utf8'),
  }
}

async function ensureSshd(): Promise<void> {
  if (!hasCommand('sshd') && hasApt() && isRoot()) await installPackages(['openssh-server'])
  if (!hasCommand('sshd')) throw new Error('this test needs sshd: sudo apt-get install openssh-server')
  // Debian's service makes it when it starts.
  if (isRoot()) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
}

/** git-shell runs nothing but git. */
function script(directory: string): string {
  return `#!/bin/sh
cd ${directory} || exit 1
while [ -e hold ]; do echo held > held; sleep 0.05; done
rm -f held
case "$SSH_ORIGINAL_COMMAND" in
  git-lfs-authenticate*) echo "$SSH_ORIGINAL_COMMAND" > lfs-asked; exec cat lfs ;;
  *) exec git-shell -c "$SSH_ORIGINAL_COMMAND" ;;
esac
`
}

function config(directory: string): string {
  return `HostKey ${directory}/host_key
AuthorizedKeysFile ${directory}/authorized_keys
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PidFile none
AcceptEnv GIT_PROTOCOL
`
}

// The root of a Debian host that has systemd and little else. debootstrap makes it, and what a test will
// install is in apt's cache: without a network, apt finds it there. Kept for a day as a tar archive.
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../debian/packages.ts'
import { isRoot } from '../system/apt.ts'
import { hasCommand, run } from '../system/command.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { withFileLock } from '../system/file-lock.ts'

export type Release = 'bookworm' | 'trixie'

const included = ['systemd', 'systemd-sysv', 'dbus', 'ca-certificates', 'man-db']
/** What `apt install` brings with the package of Berth. */
const downloaded = ['docker.io', 'git', 'nftables']
const mirror = 'http://deb.debian.org/debian'
const cachedMs = 24 * 60 * 60_000

/** Why no host can be started here, or false. For `skip`. */
export const whyNoHost = reasonAgainst()

function reasonAgainst(): string | false {
  if (!isRoot()) return 'needs root'
  const missing = ['debootstrap', 'systemd-nspawn'].filter((name) => !hasCommand(name))
  if (missing.length === 0) return false
  return `needs ${missing.join(' and ')}: apt-get install debootstrap systemd-container`
}

/** The folder of a new root, which is removed after the test. */
export async function bareRoot(t: Scope, release: Release): Promise<string> {
  const root = temporaryDirectory(t)
  await run('tar', ['-xpf', await archiveOf(release), '-C', root, '--numeric-owner', '--xattrs'])
  return root
}

function archiveOf(release: Release): Promise<string> {
  const folder = join(cacheDirectory, 'roots')
  const archive = join(folder, `${release}.tar`)
  return withFileLock(`${archive}.lock`, async () => {
    if (existsSync(archive) && Date.now() - (await stat(archive)).mtimeMs < cachedMs) return archive
    console.error(`Making a root of Debian ${release} …`)
    const root = join(folder, release)
    await rm(root, { recursive: true, force: true })
    await mkdir(root, { recursive: true })
    await run('debootstrap', ['--variant=minbase', `--include=${included}`, release, root, mirror])
    // No test needs this root after a power cut.
    await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/fast'), 'force-unsafe-io\n')
    const inside = (...words: string[]) => run('chroot', [root, ...words])
    await inside('apt-get', 'update')
    await inside('apt-get', 'install', '--yes', '--download-only', ...downloaded)
    await run('tar', ['-cf', `${archive}.new`, '-C', root, '--numeric-owner', '--xattrs', '.'])
    await rename(`${archive}.new`, archive)
    await rm(root, { recursive: true })
    return archive
  })
}

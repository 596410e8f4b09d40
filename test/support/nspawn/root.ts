// The root of a host that has systemd and little else. debootstrap makes it, and what a test will install is
// in apt's cache: without a network, apt finds it there. Kept for a day as a tar archive.
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory, choosePackages, readPackage } from '../debian/packages.ts'
import { createRootFilesystem } from '../debian/root-filesystem.ts'
import { hasApt, installPackages, isRoot } from '../system/apt.ts'
import { hasCommand, run } from '../system/command.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { withFileLock } from '../system/file-lock.ts'

export type Release = keyof typeof releaseNames

export const releaseNames = { bookworm: 'Debian 12', trixie: 'Debian 13', noble: 'Ubuntu 24.04' }
export const releases = Object.keys(releaseNames) as Release[]

const included = ['systemd', 'systemd-sysv', 'dbus', 'ca-certificates', 'man-db']
/** What `apt install` brings with the package of Berth. */
const downloaded = ['docker.io', 'git', 'nftables']
const cachedMs = 24 * 60 * 60_000

/** Why no host can be started here, or false. For `skip`. */
export const whyNoHost = isRoot() && hasApt() ? false : 'needs root, and apt'

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
    console.error(`Making a root of ${releaseNames[release]} …`)
    if (!hasCommand('debootstrap')) await installPackages(['debootstrap'])
    const root = join(folder, release)
    await rm(root, { recursive: true, force: true })
    await mkdir(root, { recursive: true })
    const variant = ['--variant=minbase', `--include=${included}`]
    if (release === 'noble') await makeUbuntu(root, [...variant, release, root])
    else await run('debootstrap', [...variant, release, root])
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

/** Debian has Ubuntu's keys. Docker is in `universe`. All releases of Ubuntu share one script. */
async function makeUbuntu(root: string, args: string[]): Promise<void> {
  const [file] = await choosePackages({ packages: ['ubuntu-keyring'], release: 'trixie' })
  const keys = createRootFilesystem()
  await keys.unpack(await readPackage(file!))
  const keyring = `${root}.gpg`
  await writeFile(keyring, keys.read('usr/share/keyrings/ubuntu-archive-keyring.gpg'))
  const options = [`--keyring=${keyring}`, '--components=main,universe']
  const defaultMirror = ''
  await run('debootstrap', [...options, ...args, defaultMirror, 'gutsy'])
}

// The Debian package: what is in it, what lintian says, and its life in a Debian 12 without systemd running.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildPackage } from './package/build.ts'
import { fileScope } from './support/daemon/scope.ts'
import { hasCommand, run } from './support/system/command.ts'
import { temporaryDirectory } from './support/system/directory.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const into = temporaryDirectory(fileScope())
const canInstall = hasCommand('debootstrap') && process.getuid?.() === 0
let path = ''

before(async () => {
  await run('npm', ['run', '--silent', 'build'], { cwd: home })
  path = await buildPackage({ home, version: '1.0.0', into, compression: '-z1' })
})

test('has the programs, the service, their documents and one build of each native package', async () => {
  const listing = await run('dpkg-deb', ['--contents', path])
  const files = listing.split('\n').map((line) => line.split(' ./').at(-1) ?? '')

  const wanted = [
    'etc/berth/berth.env',
    'usr/bin/berth',
    'usr/bin/berthd',
    'usr/lib/berth/bin/node',
    'usr/lib/berth/dist/dashboard/index.html',
    'usr/lib/systemd/system/berth-builds.service',
    'usr/lib/systemd/system/berth-builds.socket',
    'usr/lib/systemd/system/berth.service',
    'usr/lib/sysusers.d/berth.conf',
    'usr/lib/tmpfiles.d/berth.conf',
    'usr/share/bash-completion/completions/berth',
    'usr/share/doc/berth/copyright',
    'usr/share/fish/vendor_completions.d/berth.fish',
    'usr/share/man/man1/berth.1.gz',
    'usr/share/man/man8/berthd.8.gz',
    'usr/share/zsh/vendor-completions/_berth',
  ]
  assert.deepEqual(
    wanted.filter((file) => !files.includes(file)),
    [],
  )
  assert.equal(files.filter((file) => file.endsWith('.node')).length, 3)
})

test('lintian finds no error', { skip: !hasCommand('lintian') && 'needs lintian' }, async () => {
  assert.equal(await run('lintian', ['--fail-on', 'error', '--allow-root', path]), '')
})

test('installs, upgrades, refuses to go back, and leaves the data', { skip: !canInstall }, async () => {
  const root = join(into, 'root')
  const mirror = 'http://deb.debian.org/debian'
  // Docker and git are not needed here; man-db is for the reader.
  await run('debootstrap', [
    '--variant=minbase',
    '--include=systemd,man-db,libstdc++6',
    'bookworm',
    root,
    mirror,
  ])
  const inside = (...words: string[]) => run('chroot', [root, ...words])
  const install = async (version: string) => {
    const file = await repacked(version)
    await copyFile(file, join(root, 'berth.deb'))
    return inside('dpkg', '--force-depends', '--install', '/berth.deb')
  }
  await install('1.0.0')
  assert.equal((await inside('berthd', '--version')).trim(), '0.1.0')
  assert.match(await inside('berth', '--help'), /self-hosted deployment server/)
  assert.match(await inside('man', '-l', '/usr/share/man/man1/berth.1.gz'), /NAME\n +berth - /)
  assert.match(await inside('berth', 'complete', '--', 'depl'), /^deploys$/m)
  await mkdir(join(root, 'var/lib/berth'))
  await writeFile(join(root, 'var/lib/berth/data'), '')

  await install('1.1.0')
  await assert.rejects(install('1.0.0'), /1\.1\.0 was installed here, and 1\.0\.0 is older/)
  assert.match(await inside('dpkg', '--status', 'berth'), /^Version: 1\.1\.0$/m)
  await inside('dpkg', '--remove', 'berth')
  assert.match(await inside('dpkg', '--purge', 'berth'), /what stays/)
  assert.ok(existsSync(join(root, 'var/lib/berth/data')))
  assert.ok(!existsSync(join(root, 'etc/berth/berth.env')))
})

/** The same package, which says that it has another version. */
async function repacked(version: string): Promise<string> {
  const [tree, file] = [join(into, version), join(into, `${version}.deb`)]
  if (existsSync(file)) return file
  await mkdir(tree)
  await run('dpkg-deb', ['--raw-extract', path, tree])
  for (const name of ['control', 'preinst'])
    await run('sed', ['-i', `s/1\\.0\\.0/${version}/g`, join(tree, 'DEBIAN', name)])
  await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, file])
  return file
}

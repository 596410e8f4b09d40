// The Debian package: what is in it, what lintian says, and its life on bare hosts.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { fileScope } from './support/daemon/scope.ts'
import {
  asAdmin,
  fetchPage,
  givenPackage,
  packagesOfTests,
  startVisits,
  useTestImages,
  writeApp,
} from './support/nspawn/berth-host.ts'
import { bootHost } from './support/nspawn/host.ts'
import { bareRoot, type Release, releaseNames, releases, whyNoHost } from './support/nspawn/root.ts'
import { hasApt, installPackages, isRoot } from './support/system/apt.ts'
import { hasCommand, run } from './support/system/command.ts'
import { temporaryDirectory } from './support/system/directory.ts'

const scope = fileScope()
const into = temporaryDirectory(scope)
let packages: Awaited<ReturnType<typeof packagesOfTests>>

before(async () => {
  packages = await packagesOfTests(scope)
  if (isRoot() && hasApt() && !hasCommand('lintian')) await installPackages(['lintian'])
})

test('has the programs, the service, their documents and one build of each native package', async () => {
  const [files, newer] = await Promise.all([filesOf(packages.bookworm), filesOf(packages.trixie)])

  const wanted = [
    'etc/berth/berth.env',
    'usr/bin/berth',
    'usr/bin/berthd',
    'usr/lib/berth/bin/node',
    'usr/lib/berth/dist/dashboard/index.html',
    'usr/lib/berth/systemd/launch.pl',
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
  const isNative = (file: string) => file.endsWith('.node')
  assert.equal(files.filter(isNative).length, 3)
  assert.deepEqual(
    newer.toSorted().filter((file) => !isNative(file)),
    files.toSorted().filter((file) => !isNative(file)),
  )
  assert.equal(newer.filter(isNative).length, 3)
})

test('is built for arm64 on any machine', { skip: givenPackage && 'BERTH_PACKAGE is given' }, async () => {
  const natives = (await filesOf(packages.arm64)).filter((file) => file.endsWith('.node'))
  assert.equal(natives.length, 3)
  assert.ok(natives.every((file) => /linux[-_]arm64/.test(file)))
})

test('lintian finds nothing', async (t) => {
  if (!hasCommand('lintian')) return t.skip('needs lintian')
  const both = [packages.bookworm, packages.trixie]
  assert.equal(await run('lintian', ['--fail-on', 'error,warning', '--allow-root', ...both]), '')
})

for (const release of releases) {
  const name = `on ${releaseNames[release]}, a deploy survives what apt does with the package`
  test(name, { skip: whyNoHost }, (t) => life(t, release))
}

async function life(t: TestContext, release: Release): Promise<void> {
  const host = await bootHost(t, await bareRoot(t, release))
  const apt = async (action: string, version?: string) => {
    const file = version ? basename(await repacked(packages[release], version)) : 'berth'
    if (version) await copyFile(join(into, file), join(host.root, file))
    // An upgrade is installed as well.
    const command = `apt-get ${action} --yes --allow-downgrades ${version ? `./${file}` : file}`
    // apt prints the reasons of dpkg on its standard output.
    return host.script(`cd /; said=$(${command} 2>&1) || { echo "$said" >&2; exit 1; }; echo "$said"`)
  }
  const isActive = () => host.script('systemctl is-active berth || :')

  assert.match(await apt('install', '1.0.0'), /^ {2}berthd setup-link$/m)
  await host.script('until berthd setup-link; do sleep 0.1; done')
  const code = /\/setup\?code=(\S+)/.exec(await host.run('berthd', 'setup-link'))?.[1]
  assert.ok(code)
  // Here the logs of apt, of dpkg and of the journal are.
  assert.equal(await host.script(`journalctl --sync; grep -rlF -e '${code}' /var/log || :`), '')
  assert.equal(await host.script(`journalctl --quiet --output cat --grep '${code}' || :`), '')
  await host.run('/usr/lib/berth/bin/node', '-e', createAccount, code)
  await assert.rejects(host.run('berthd', 'setup-link'), /the account exists/)
  assert.match(await host.run('man', '--locale=C', 'berth'), /NAME\n +berth - /)
  assert.match(await host.script(complete), /^deploy deploys /m)

  const image = await useTestImages(host)
  await host.script(`until ${asAdmin('berth info')}; do sleep 0.2; done`)
  await writeApp(join(host.root, 'srv/web'), { image, answer: 'served' })
  await host.script(`cd /srv/web && ${asAdmin('berth up --yes')}`)
  assert.equal(await fetchPage(host), 'served\n')

  const load = await startVisits(host)
  const before = await host.run('systemctl', 'show', '--property=MainPID', 'berth')
  await apt('install', '1.1.0')
  assert.notEqual(await host.run('systemctl', 'show', '--property=MainPID', 'berth'), before)
  await host.script(`until ${asAdmin('berth status web')}; do sleep 0.2; done`)
  const { answered, failures } = await load.end()
  console.error(
    `${releaseNames[release]}: ${answered} requests during the upgrade, ${failures.length} failed`,
  )
  assert.deepEqual(failures, [])

  await assert.rejects(apt('install', '1.0.0'), /1\.1\.0 was installed here, and 1\.0\.0 is older/)
  assert.match(await host.run('dpkg', '--status', 'berth'), /^Version: 1\.1\.0$/m)
  assert.equal(await isActive(), 'active\n')

  await apt('remove')
  assert.equal(await isActive(), 'inactive\n')
  assert.match(await apt('purge'), /what stays[\s\S]*\/var\/lib\/berth/)
  assert.ok(existsSync(join(host.root, 'var/lib/berth/secret_key')))
  assert.ok(!existsSync(join(host.root, 'etc/berth/berth.env')))
  await apt('install', '1.1.0')
  await host.script(`until ${asAdmin('berth status web')}; do sleep 0.2; done`)
  await assert.rejects(host.run('berthd', 'setup-link'), /the account exists/)
}

const createAccount = `
const body = { code: process.argv[1], email: 'ada@example.com', password: 'correct horse battery' }
const headers = { 'content-type': 'application/json' }
fetch('http://127.0.0.1:7878/api/v1/auth/setup', { method: 'POST', headers, body: JSON.stringify(body) })
  .then(async (answer) => { if (!answer.ok) throw new Error(await answer.text()) })`

const complete = `exec bash -c '. /usr/share/bash-completion/completions/berth
  COMP_WORDS=(berth depl) COMP_CWORD=1; _berth; echo "\${COMPREPLY[@]}"'`

async function filesOf(file: string): Promise<string[]> {
  const listing = await run('dpkg-deb', ['--contents', file])
  return listing.split('\n').map((line) => line.split(' ./').at(-1) ?? '')
}

/** The same package, which says that it has another version. */
async function repacked(path: string, version: string): Promise<string> {
  const tree = join(into, `${basename(path, '.deb')}-${version}`)
  const file = `${tree}.deb`
  if (existsSync(file)) return file
  await mkdir(tree)
  await run('dpkg-deb', ['--raw-extract', path, tree])
  const built = (await run('dpkg-deb', ['--field', path, 'Version'])).trim()
  for (const name of ['control', 'preinst']) {
    const text = await readFile(join(tree, 'DEBIAN', name), 'utf8')
    const isVersion = name === 'control' ? `Version: ${built}\n` : built
    await writeFile(join(tree, 'DEBIAN', name), text.replaceAll(isVersion, isVersion.replace(built, version)))
  }
  await run('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, file])
  return file
}

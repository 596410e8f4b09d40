// The Debian package: what npm would pack, its production dependencies, Node, and what systemd, shells and
// man read. Needs dpkg-deb and the npm registry, and `dist` as `npm run build` writes it.
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { run } from '../support/system/command.ts'
import { changelog, control, type Package } from './control.ts'
import { copyright } from './copyright.ts'
import { berthdPage, berthPage } from './man.ts'
import { type Architecture, addNode, keepRuntimeFiles, type NodeMajor, nodeReleases } from './runtime.ts'

export interface PackageOptions {
  /** The repository. */
  home: string
  /** Of npm; `1.0.0-rc.1` becomes `1.0.0~rc.1`, which is older than 1.0.0 for dpkg as well. */
  version: string
  /** The folder of the package. */
  into: string
  /** That of this machine by default. */
  arch?: Architecture | undefined
  /** 24 by default. With 20 it is for Debian 12, and has a version of its own. */
  node?: NodeMajor | undefined
  /** For dpkg-deb; `-z1` is fast. */
  compression?: string
}

const debianNames: Record<string, string | undefined> = { x64: 'amd64', arm64: 'arm64' }

/** Returns the path of the package. */
export async function buildPackage({
  home,
  version: wanted,
  into,
  arch = process.arch as Architecture,
  node: major = '24',
  compression = '-z6',
}: PackageOptions): Promise<string> {
  // That for Debian 12 is older, so that an upgrade of Debian can be followed by one of the package.
  const version = wanted.replace('-', '~') + (major === '20' ? '~deb12' : '')
  const node = nodeReleases[major]
  const target = { architecture: arch, node }
  const architecture = debianNames[arch]
  if (architecture === undefined) throw new Error(`no package can be built for ${arch}`)
  const root = await mkdtemp(join(tmpdir(), 'berth-package-'))
  try {
    const product = join(root, 'usr/lib/berth')
    await addProduct(home, product, arch)
    await addNode(product, target)
    await put(root, 'usr/share/doc/berth/copyright', await copyright(home, product, node.version))
    await keepRuntimeFiles(product, target)
    await addPrograms(root)
    await addService(home, root)
    await addPapers(root, { product, version })
    await addControl(home, root, { version, architecture, glibc: node.glibc })
    const path = join(into, `berth_${version}_${architecture}.deb`)
    await chmod(root, 0o755)
    await run('dpkg-deb', ['--root-owner-group', '-Zxz', compression, '--build', root, path])
    return path
  } finally {
    await rm(root, { recursive: true })
  }
}

async function addProduct(home: string, product: string, arch: Architecture): Promise<void> {
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', dirname(product), home]
  await mkdir(product, { recursive: true })
  const archive = join(dirname(product), (await run('npm', pack)).trim())
  await run('tar', ['-xzf', archive, '-C', product, '--strip-components=1', '--no-same-owner'])
  await rm(archive)
  await rm(join(product, 'systemd'), { recursive: true })
  await copyFile(join(home, 'package-lock.json'), join(product, 'package-lock.json'))
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const target = ['--os=linux', `--cpu=${arch}`, '--libc=glibc']
  const install = ['ci', '--omit=dev', '--ignore-scripts', ...target, ...quiet]
  await run('npm', install, { cwd: product })
  for (const name of ['package-lock.json', 'node_modules/.bin', 'node_modules/.package-lock.json'])
    await rm(join(product, name), { recursive: true, force: true })
  for (const name of ['main.js', 'cli/main.js']) await asModule(join(product, 'dist/src', name))
}

/** The programs name Node: a first line that looks for one on the path would say that Debian's is needed. */
async function asModule(path: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(/^#!.*\n/, ''), { mode: 0o644 })
}

/** By hand, berthd has the settings and the data of the service. Variables that are set already win. */
const daemonStart = `#!/bin/sh
export STATE_DIRECTORY="\${STATE_DIRECTORY:-/var/lib/berth}"
# uWebSockets.js reads this before the program runs.
export UWS_HTTP_MAX_HEADERS_SIZE="\${UWS_HTTP_MAX_HEADERS_SIZE:-16384}"
settings=
if [ -r /etc/berth/berth.env ]; then settings=--env-file=/etc/berth/berth.env; fi
`

async function addPrograms(root: string): Promise<void> {
  const start = (words: string) => `exec /usr/lib/berth/bin/node ${words} "$@"\n`
  await put(root, 'usr/bin/berth', `#!/bin/sh\n${start('/usr/lib/berth/dist/src/cli/main.js')}`, 0o755)
  await put(root, 'usr/bin/berthd', daemonStart + start('$settings /usr/lib/berth/dist/src/main.js'), 0o755)
}

async function addService(home: string, root: string): Promise<void> {
  const read = (name: string) => readFile(join(home, 'systemd', name), 'utf8')
  for (const name of ['berth.service', 'berth-builds.service', 'berth-builds.socket']) {
    const unit = (await read(name))
      // Its first lines say where to put the files, which the package has done.
      .replace(/^# Berth as a service[\s\S]*?\n(?=# Instances and the edge)/, '')
      .replaceAll('/usr/bin/node /opt/berth/', '/usr/lib/berth/bin/node /usr/lib/berth/')
      .replaceAll('/opt/berth/', '/usr/lib/berth/')
    await put(root, `usr/lib/systemd/system/${name}`, unit)
  }
  await put(root, 'usr/lib/berth/systemd/launch.pl', await read('launch.pl'))
  await put(root, 'usr/lib/sysusers.d/berth.conf', await read('berth.sysusers'))
  await put(root, 'usr/lib/tmpfiles.d/berth.conf', await read('berth.tmpfiles'))
  await put(root, 'etc/berth/berth.env', await read('berth.env.example'))
  await put(root, 'usr/share/doc/berth/examples/edge-host.conf', await read('edge-host.conf'))
}

async function addPapers(root: string, { product, version }: { product: string; version: string }) {
  const shells = {
    bash: 'bash-completion/completions/berth',
    zsh: 'zsh/vendor-completions/_berth',
    fish: 'fish/vendor_completions.d/berth.fish',
  }
  for (const [shell, path] of Object.entries(shells)) {
    const program = join(product, 'dist/src/cli/main.js')
    await put(root, `usr/share/${path}`, await run(process.execPath, [program, 'completion', shell]))
  }
  const zip = (text: string) => gzipSync(text, { level: 9 })
  await put(root, 'usr/share/man/man1/berth.1.gz', zip(berthPage(version)))
  await put(root, 'usr/share/man/man8/berthd.8.gz', zip(berthdPage(version)))
  await put(root, 'usr/share/doc/berth/changelog.gz', zip(changelog(version)))
}

async function addControl(home: string, root: string, of: Omit<Package, 'kibibytes'>) {
  const scripts = join(home, 'systemd/debian')
  for (const name of ['preinst', 'postinst', 'prerm', 'postrm']) {
    const text = await readFile(join(scripts, name), 'utf8')
    await put(root, `DEBIAN/${name}`, text.replaceAll('@VERSION@', of.version), 0o755)
  }
  await put(root, 'usr/share/lintian/overrides/berth', await readFile(join(scripts, 'lintian-overrides')))
  await put(root, 'DEBIAN/conffiles', '/etc/berth/berth.env\n')
  await run('chmod', ['-R', 'u=rwX,go=rX', root])
  await put(root, 'DEBIAN/control', control({ ...of, kibibytes: await sizeOf(root) }))
  await put(root, 'DEBIAN/md5sums', await checksums(root))
}

async function sizeOf(root: string): Promise<number> {
  return Number.parseInt(await run('du', ['-sk', '--apparent-size', '--exclude=DEBIAN', root]), 10)
}

async function checksums(root: string): Promise<string> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  const wanted = paths.filter((path) => !/^(DEBIAN|etc)\//.test(path)).toSorted()
  return run('md5sum', wanted, { cwd: root })
}

async function put(root: string, path: string, content: string | Buffer, mode = 0o644): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), content)
  await chmod(join(root, path), mode)
}

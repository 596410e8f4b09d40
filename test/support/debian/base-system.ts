// What makes unpacked packages a Debian system in which apt works: accounts, sources and dpkg's database.
import { readFile } from 'node:fs/promises'
import { readControl } from './packages.ts'
import type { RootFilesystem } from './root-filesystem.ts'

/** The packages of Debian's own slim image. */
export const basePackages = [
  'apt',
  'base-files',
  'base-passwd',
  'bash',
  'bsdutils',
  'coreutils',
  'dash',
  'debian-archive-keyring',
  'debianutils',
  'diffutils',
  'dpkg',
  'findutils',
  'grep',
  'gzip',
  'hostname',
  'libc-bin',
  'login',
  'mawk',
  'ncurses-base',
  'passwd',
  'perl-base',
  'sed',
  'tar',
  'util-linux',
]

/** The certificates that this host trusts: its way to a registry may have one of its own. */
export const hostCertificates = '/etc/ssl/certs/ca-certificates.crt'

export async function addBaseSystem(root: RootFilesystem, files: string[], release: string): Promise<void> {
  const alternatives = { awk: 'mawk', sh: 'dash', cc: 'gcc', 'c++': 'g++' }
  for (const [name, program] of Object.entries(alternatives))
    if (root.has(`usr/bin/${program}`)) root.symlink(`usr/bin/${name}`, program)
  root.file('etc/ssl/certs/ca-certificates.crt', await readFile(hostCertificates))
  addAccounts(root)
  addSources(root, release)
  await addDatabase(root, files)
}

function addAccounts(root: RootFilesystem): void {
  for (const kind of ['passwd', 'group'])
    root.file(`etc/${kind}`, root.read(`usr/share/base-passwd/${kind}.master`))
  const apt = '_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n'
  root.file('etc/passwd', `${root.read('etc/passwd')}${apt}`)
}

function addSources(root: RootFilesystem, release: string): void {
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
  const source = [
    'Types: deb',
    'URIs: http://deb.debian.org/debian',
    `Suites: ${release}`,
    'Components: main',
  ]
  root.file('etc/apt/sources.list.d/debian.sources', `${[...source, `Signed-By: ${keys}`].join('\n')}\n`)
}

async function addDatabase(root: RootFilesystem, files: string[]): Promise<void> {
  for (const folder of ['alternatives', 'parts', 'triggers', 'updates'])
    root.directory(`var/lib/dpkg/${folder}`)
  const controls = await Promise.all(files.map(readControl))
  for (const control of controls) root.file(`var/lib/dpkg/info/${infoName(control)}.list`, '')
  const entries = controls.map((control) => control.replace('\n', '\nStatus: install ok installed\n'))
  root.file('var/lib/dpkg/status', entries.join('\n'))
}

function infoName(control: string): string {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1] ?? ''
  return field('Multi-Arch') === 'same' ? `${field('Package')}:${field('Architecture')}` : field('Package')
}

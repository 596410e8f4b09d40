// What dpkg and apt read of the package.

export interface Package {
  version: string
  architecture: string
  kibibytes: number
  glibc: string
}

const { DEBFULLNAME = 'The Berth authors', DEBEMAIL = 'berth@localhost.localdomain' } = process.env
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`

export function control({ version, architecture, kibibytes, glibc }: Package): string {
  const fields = {
    Package: 'berth',
    Version: version,
    Architecture: architecture,
    Maintainer: maintainer,
    'Installed-Size': String(kibibytes),
    // The native packages need this glibc. `hostname` and `grep` are of every system.
    Depends: [
      `libc6 (>= ${glibc})`,
      'libstdc++6 (>= 12)',
      'docker.io | docker-ce',
      'git',
      'init-system-helpers (>= 1.54~)',
      'systemd (>= 252)',
    ].join(', '),
    // nft isolates services from each other; git asks for certificates, and reads over ssh.
    Recommends: 'nftables, ca-certificates, openssh-client',
    // For --edge host only: by default HAProxy is a container.
    Suggests: 'haproxy, bash-completion',
    Section: 'admin',
    Priority: 'optional',
    Description: [
      'self-hosted deployment server for one Linux host',
      ' Berth deploys apps to a server that you own. Give it a folder, a git repository',
      ' or an image: it builds it, checks it, and switches traffic without dropping a',
      ' request. Domains, HTTPS, Postgres, Redis, backups and cron jobs are included.',
      ' .',
      ' The package has a Node.js of its own in /usr/lib/berth/bin.',
    ].join('\n'),
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return `${lines.join('\n')}\n`
}

/** Debian's own form; what users notice is in CHANGELOG.md, which the package has as well. */
export function changelog(version: string): string {
  const seconds = process.env.SOURCE_DATE_EPOCH
  const date = seconds ? new Date(Number(seconds) * 1000) : new Date()
  return [
    `berth (${version}) unstable; urgency=medium`,
    '',
    '  * See /usr/lib/berth/CHANGELOG.md.',
    '',
    ` -- ${maintainer}  ${date.toUTCString().replace('GMT', '+0000')}`,
    '',
  ].join('\n')
}

// The files of the edge, below the data directory: what HAProxy reads, and its control sockets. Files are
// replaced atomically, so a start at any moment reads complete files.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../errors.ts'
import type { MapName } from './routes.ts'

export interface EdgeFiles {
  directory: string
  /** The owner of the sockets: each upgrade of HAProxy starts the next one. All other files are shared. */
  generation: number
  configuration: string
  map(name: MapName): string
  /** The parts of the pages for requests without an instance. */
  pages: string
  certificateList: string
  certificate(host: string): string
  /** Served to clients that request no host with a certificate. */
  defaultCertificate: string
  adminSocket: string
  masterSocket: string
  verifySocket: string
  /** The root directory of a worker after it has dropped its privileges. */
  emptyDirectory: string
  pidFile: string
  output: string
}

/** Less than the limit of a file name, including the extension. */
const longestName = 200
/** The kernel's limit of a socket's path, minus HAProxy's temporary suffix. */
const longestSocketPath = 107 - '.12345678.tmp'.length

/** Creates the folders, private to the user. Throws `edge_unusable` if the path is too long for a socket. */
export function openEdgeFiles(dataDir: string): EdgeFiles {
  const directory = join(dataDir, 'edge')
  const run = join(directory, 'run')
  const files: EdgeFiles = {
    directory,
    generation: 1,
    configuration: join(directory, 'haproxy.cfg'),
    map: (name) => join(directory, 'maps', `${name}.map`),
    pages: join(directory, 'maps', 'pages.map'),
    certificateList: join(directory, 'certificates', 'list.txt'),
    certificate: (host) => join(directory, 'certificates', `${fileNameOf(host)}.pem`),
    defaultCertificate: join(directory, 'certificates', 'default.pem'),
    adminSocket: join(run, 'admin.sock'),
    masterSocket: join(run, 'master.sock'),
    verifySocket: join(run, 'verify.sock'),
    emptyDirectory: join(directory, 'empty'),
    pidFile: join(run, 'haproxy.pid'),
    output: join(run, 'haproxy.log'),
  }
  if (files.verifySocket.length > longestSocketPath) {
    const reason = `${files.verifySocket} is too long for the name of a socket`
    throw new Failure('edge_unusable', reason, 'choose a shorter --data-dir')
  }
  // Paths are unquoted in the configuration and in commands.
  if (!/^[\w./@+-]+$/.test(directory)) {
    const reason = `${directory} contains characters that are special to HAProxy`
    throw new Failure('edge_unusable', reason, 'choose a --data-dir of letters, digits and ./@+-_')
  }
  const folders = [run, files.emptyDirectory, join(directory, 'maps'), join(directory, 'certificates')]
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  return files
}

/** HAProxy's name of a host's certificate: at most 255 bytes, without `*`. */
export function fileNameOf(host: string): string {
  const name = host.replace(/^\*\./, '_wildcard.')
  return name.length <= longestName ? name : createHash('sha256').update(host).digest('hex')
}

/** Durable when it resolves: a boot without the daemon reads it too. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

/** Removes the certificates of hosts that no longer have one, and returns their paths. */
export function removeOtherCertificates(files: EdgeFiles, hosts: readonly string[]): string[] {
  const folder = join(files.directory, 'certificates')
  const kept = new Set([files.defaultCertificate, ...hosts.map(files.certificate)])
  const paths = readdirSync(folder)
    .filter((name) => name.endsWith('.pem'))
    .map((name) => join(folder, name))
  const gone = paths.filter((path) => !kept.has(path))
  for (const path of gone) rmSync(path)
  return gone
}

/** The API recognizes the edge by it. Created once, or every start of the daemon would need a reload. */
export function loadOrCreateSecret({ directory }: EdgeFiles): string {
  const path = join(directory, 'secret')
  const known = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // A file truncated by a power loss counts as missing.
  if (/^[0-9a-f]{48}$/.test(known)) return known
  const secret = randomBytes(24).toString('hex')
  writeFileSync(`${path}.new`, secret, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secret
}

/** A host name that only the edge with this secret answers, and that no client can know. */
export function ownHostOf(secret: string): string {
  return `${createHash('sha256').update(`port check host ${secret}`).digest('hex').slice(0, 32)}.invalid`
}

/** Without a listed address, a bind to it would fail. */
export function hasIpv6(): boolean {
  try {
    return readFileSync('/proc/net/if_inet6', 'utf8') !== ''
  } catch {
    return false
  }
}

// The default certificate for clients that request no known host: self-signed, created once. HAProxy does not
// start without a certificate.

const tenYearsMs = 10 * 365 * 24 * 60 * 60 * 1000

/** Loads the certificate library only if the certificate does not exist yet. */
export async function ensureDefaultCertificate(path: string): Promise<void> {
  if (existsSync(path)) return
  await import('reflect-metadata')
  const { PemConverter, X509CertificateGenerator } = await import('@peculiar/x509')
  const { webcrypto } = await import('node:crypto')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Berth',
    notBefore: new Date(Date.now() - 24 * 60 * 60 * 1000),
    notAfter: new Date(Date.now() + tenYearsMs),
    signingAlgorithm: algorithm,
    keys,
  })
  const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  await writeAtomically(path, `${key}\n${certificate.toString('pem')}\n`)
}

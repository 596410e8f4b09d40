// Certificates with their keys, one file per host in the format of the proxy, and the keys of CA accounts.
// All files are secret: mode 0600 in a folder of mode 0700. They are cached in memory, because only this
// process writes them.
import { createHash, X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { StorageError } from './store/errors.ts'
import { createPrivateFile } from './store/private-file.ts'

export interface StoredCertificate {
  host: string
  path: string
  /** SHA-256 of the file, in hex. It changes with the certificate. */
  fingerprint: string
  /** RFC 3339. */
  notBefore: string
  notAfter: string
}

export interface CertificateAccount {
  directoryUrl: string
  email: string
}

export interface StoredOrder extends CertificateAccount {
  url: string
  keyPem: string
  at: string
}

/** A TXT record in a zone of the operator that proves control of a host. */
export interface StoredTxtRecord {
  name: string
  value: string
}

interface CachedCertificate {
  stored: StoredCertificate
  pem: string
}

const hostPattern = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
/** File names have at most 255 bytes, including the suffix. */
const maxNameLength = 200
const txtSuffix = '.txt-record.json'

/** `<directory>/<host>.pem`, `<host>.order.json` and `account-<which>.key.json`. */
export function openCertificates(directory: string) {
  const files = openPems(directory)
  const orderPath = (host: string) => join(directory, `${nameOf(host)}.order.json`)
  const keyPath = (account: CertificateAccount) => join(directory, `account-${digestOf(account)}.key.json`)
  const txtPath = ({ name, value }: StoredTxtRecord) =>
    join(directory, `${createHash('sha256').update(`${name} ${value}`).digest('hex')}${txtSuffix}`)
  const keep = (path: string, value: object) => write(directory, path, `${JSON.stringify(value)}\n`)
  return {
    ...files,

    /** Removes the certificate and its order. Missing files are fine. */
    remove(host: string): void {
      files.remove(host)
      fs.rmSync(orderPath(host), { force: true })
    },

    order: (host: string) => readJson<StoredOrder>(orderPath(host)),
    saveOrder: (host: string, order: StoredOrder) => keep(orderPath(host), order),
    removeOrder: (host: string) => fs.rmSync(orderPath(host), { force: true }),

    /** Records that were or may have been published and are not known to be removed. */
    txtRecords: () => txtRecordsIn(directory),
    saveTxtRecord: (record: StoredTxtRecord) => keep(txtPath(record), record),
    removeTxtRecord: (record: StoredTxtRecord) => fs.rmSync(txtPath(record), { force: true }),

    /** The private key, as JSON; null before it is created. */
    accountKey: (account: CertificateAccount) => readJson<object>(keyPath(account)),
    saveAccountKey: (account: CertificateAccount, key: object) => keep(keyPath(account), key),
  }
}

function openPems(directory: string) {
  let known: Map<string, CachedCertificate> | null = null
  const pathOf = (host: string) => join(directory, `${nameOf(host)}.pem`)
  const all = () => {
    known ??= readAll(directory)
    return known
  }
  const isValidAt = (nowMs: number, known: CachedCertificate | undefined) =>
    known !== undefined && Date.parse(known.stored.notAfter) > nowMs
  return {
    /** Sorted by host. Files without a certificate are skipped. */
    list: (): StoredCertificate[] =>
      [...all().values()].map(({ stored }) => stored).sort((a, b) => (a.host < b.host ? -1 : 1)),

    find: (host: string): StoredCertificate | null => all().get(host)?.stored ?? null,

    /** Whether the host has a certificate that is not expired. Reads from memory. */
    isValid: (host: string, nowMs = Date.now()) => isValidAt(nowMs, all().get(host)),

    /** Whether a valid certificate covers the host: its own one or a wildcard of its parent. */
    covers: (host: string, nowMs = Date.now()) =>
      namesFor(host).some((name) => isValidAt(nowMs, all().get(name))),

    pems(nowMs = Date.now()): ReadonlyMap<string, string> {
      const valid = [...all()].filter(([, known]) => isValidAt(nowMs, known))
      return new Map(valid.map(([host, { pem }]) => [host, pem]))
    },

    /** Key, certificate and chain, without a blank line. Throws `invalid_host` and `invalid_certificate`. */
    put(host: string, pem: string): StoredCertificate {
      const path = pathOf(host)
      const stored = describe(host, path, pem)
      if (!stored)
        throw new StorageError('invalid_certificate', `the data received for ${host} is not a certificate`)
      write(directory, path, pem)
      all().set(host, { stored, pem })
      return stored
    },

    remove(host: string): void {
      fs.rmSync(pathOf(host), { force: true })
      all().delete(host)
    },
  }
}

function write(directory: string, path: string, text: string): void {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  createPrivateFile(path, text)
}

export type Certificates = ReturnType<typeof openCertificates>

/** The host itself, and the wildcard that covers it. */
function namesFor(host: string): string[] {
  return [host, `*.${host.slice(host.indexOf('.') + 1)}`]
}

/** No host begins with an underscore, so the files of wildcards and hosts do not collide. */
function nameOf(host: string): string {
  const name = host.replace(/^\*\./, '_wildcard.')
  if (!hostPattern.test(name.replace(/^_wildcard\./, ''))) {
    throw new StorageError('invalid_host', `'${host.slice(0, 80)}' is not a host name`)
  }
  return name.length <= maxNameLength ? name : createHash('sha256').update(host).digest('hex')
}

function txtRecordsIn(directory: string): StoredTxtRecord[] {
  const names = fs.existsSync(directory) ? fs.readdirSync(directory) : []
  const paths = names.filter((name) => name.endsWith(txtSuffix)).map((name) => join(directory, name))
  return paths.flatMap((path) => readJson<StoredTxtRecord>(path) ?? [])
}

function digestOf({ directoryUrl, email }: CertificateAccount): string {
  return createHash('sha256').update(`${directoryUrl}\n${email}`).digest('hex').slice(0, 16)
}

function readAll(directory: string): Map<string, CachedCertificate> {
  const names = fs.existsSync(directory) ? fs.readdirSync(directory) : []
  const files = names.filter((name) => name.endsWith('.pem')).map((name) => join(directory, name))
  const found = files.map((path) => {
    const pem = fs.readFileSync(path, 'utf8')
    return { stored: describe(null, path, pem), pem }
  })
  const valid = found.filter((one): one is CachedCertificate => one.stored !== null)
  return new Map(valid.map((certificate) => [certificate.stored.host, certificate]))
}

/** A null host is replaced by the first name in the certificate. Null for an unreadable certificate. */
function describe(host: string | null, path: string, pem: string): StoredCertificate | null {
  try {
    const leaf = new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE-----')))
    const named = host ?? /^DNS:([^,\s]+)/.exec(leaf.subjectAltName ?? '')?.[1]
    if (!named) return null
    return {
      host: named,
      path,
      fingerprint: createHash('sha256').update(pem).digest('hex'),
      notBefore: new Date(leaf.validFrom).toISOString(),
      notAfter: new Date(leaf.validTo).toISOString(),
    }
  } catch {
    return null
  }
}

/** Null for a missing or truncated file. */
function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(fs.readFileSync(path, 'utf8')) as T
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isMissing || error instanceof SyntaxError) return null
    throw error
  }
}

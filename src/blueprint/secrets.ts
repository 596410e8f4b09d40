// Which variables have values that do not belong into a blueprint, and the file in which they are instead.
import { envKeyPattern, parseEnvFile, toEnvLine } from '../domain/env-file.ts'

/** Written by `berth import`, read by `berth apply --secrets`. */
export const secretsFile = 'berth.secrets.env'

export interface Secret {
  /** Null for each service that has a secret with this key. */
  service: string | null
  key: string
  value: string
}

const passwordInAddress = /:\/\/[^/\s:@]*:(?!\$\{\{|\d+\/)[^\s@]+@/
const passwordInWords = /(pass|passwd|password|secret|token|api-?key)[= ]+['"]?(?!\$)[^\s'"]/i

/** Such as `postgres://ada:x@host` and `run --token=x`, but not `--token=$TOKEN`. */
export function hasPassword(text: string): boolean {
  return passwordInAddress.test(text) || passwordInWords.test(text)
}

const secretNames =
  /(PASS(WD|WORD|PHRASE)?|PWD|SECRET|TOKEN|CREDENTIAL|KEY|AUTH|SALT)S?(_?\d+|_BASE(64)?|_PEM|_HASH)?$/i

export function looksSecret(key: string, value: string): boolean {
  const isNamed = secretNames.test(key)
  const isPlain = /^(true|false|yes|no|\d?)$/i.test(value) || /PUBLIC/i.test(key)
  return (isNamed && !isPlain) || hasPassword(value)
}

const plainNames = `
  DATABASE DB DIR DIRECTORY DOMAIN EMAIL ENV ENVIRONMENT FOLDER FROM GID HOST HOSTNAME LANG
  LANGUAGE LEVEL LOCALE LOCATION MODE NAME PATH PORT REGION SCHEMA TAG TIMEZONE TZ UID USER
  USERNAME VERSION ZONE
`
const plainName = new RegExp(`(^|_|DB|PG|PU)(${plainNames.trim().split(/\s+/).join('|')})$`, 'i')

/** Whether it surely is a setting: `UPLOAD_LOCATION`, `MYSQL_DATABASE`. */
export function isPlainSetting(key: string, value = ''): boolean {
  return plainName.test(key) && !looksSecret(key, value) && /^[\w.:/@,+ -]*$/.test(value)
}

/** Lines of `SERVICE.KEY=value`: the value of this key in another service may be unknown. */
export function printSecrets(secrets: Secret[]): string {
  const lines = secrets.map((secret) => `${secret.service}.${toEnvLine(secret)}`)
  return `# For: berth apply --secrets ${secretsFile}\n${lines.join('\n')}\n`
}

/** Throws InvalidEnvFile. */
export function parseSecrets(text: string): Secret[] {
  return parseEnvFile(text, { keyPattern: secretName }).map(({ key: name, value }) => {
    const [key = '', service = null] = name.split('.').reverse()
    return { service, key, value }
  })
}

const secretName = new RegExp(`^([a-z][a-z0-9-]*\\.)?${envKeyPattern.source.slice(1)}`)

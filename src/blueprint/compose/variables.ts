// The variables of a Compose service, with what their values are.
import { posix } from 'node:path'
import { isPlainSetting, looksSecret } from '../secrets.ts'
import { isRecord, type Path } from '../yaml.ts'
import type { ComposeText, Remark, Surroundings } from './compose-text.ts'
import { listOf, type Variable } from './draft.ts'
import { expandEnv } from './interpolate.ts'

/** Of a list, or of a map. */
export function readVariables(
  value: unknown,
  path: Path,
  compose: ComposeText,
  context: { remark: Remark; files: Surroundings },
): Variable[] {
  const entries = isRecord(value)
    ? Object.entries(value).map(([key, one]) => ({ key, text: one, at: [...path, key] }))
    : listOf(value).map((line, index) => {
        const [, key = '', text = null] = /^([^=]*)(?:=([\s\S]*))?$/.exec(String(line)) ?? []
        return { key, text, at: [...path, index] }
      })
  return entries.flatMap(({ key, text, at }) => {
    const isNull = text === null || compose.isNull(at)
    const isFromEnv = [path, at].some(compose.isPrivate)
    // A name that is itself from .env may be a password.
    if ((text === null && isFromEnv) || (typeof text === 'object' && text !== null)) {
      context.remark(at, 'it is no variable with a text')
      return []
    }
    if (isNull) return [fromEnv(key, compose.env.get(key), `.env:${key}`)]
    const isUnknown = compose.isUnknown(at)
    const raw = compose.rawAt(at) ?? ''
    const source = compose.variableIn(isRecord(value) ? raw : raw.replace(/^[^=]*=/, ''))
    const found = { ...fromEnv(key, String(text), source), isUnknown }
    if (isFromEnv) return [{ ...found, isSecret: found.isSecret || isUnknown }]
    const inFile = secretFileOf(found, at, compose, context)
    if (inFile) return [inFile]
    const isSuspect = !isUnknown && looksSecret(key, found.value)
    return [{ ...found, isSuspect, isSecret: isUnknown || isSuspect }]
  })
}

/** What stands in a file next to the Compose file stays out of a blueprint, but for plain settings. */
function fromEnv(key: string, value: string | undefined, source: string | null): Variable {
  const isSecret = value === undefined || !isPlainSetting(key, value)
  return { key, value: value ?? '', isUnknown: value === undefined, isSecret, isSuspect: false, source }
}

/** Null for a file that cannot be read. */
export function readEnvFile(path: string, { env }: ComposeText, files: Surroundings): Variable[] | null {
  const lines = files.readEnvFile(path)
  if (lines === null) return null
  const name = posix.normalize(path)
  return [...expandEnv(lines, env)].map(([key, value]) => {
    const [, alias] = /^\$\{([A-Za-z_]\w*)\}$/.exec(lines.find((line) => line.key === key)!.value) ?? []
    return fromEnv(key, value, alias === undefined ? `${name}:${key}` : `.env:${alias}`)
  })
}

/** `DB_PASSWORD_FILE: /run/secrets/pw` reads a file that Compose mounts, and an instance does not have. */
function secretFileOf(
  { key, value }: Variable,
  at: Path,
  { root }: ComposeText,
  { remark, files }: { remark: Remark; files: Surroundings },
): Variable | null {
  const [, secret] = /^\/run\/secrets\/([\w.-]+)$/.exec(value) ?? []
  if (secret === undefined || !key.endsWith('_FILE')) return null
  const name = key.slice(0, -'_FILE'.length)
  const given = isRecord(root.secrets) ? root.secrets[secret] : undefined
  const path = isRecord(given) ? given.file : undefined
  const text = typeof path === 'string' ? files.readText?.(path)?.replace(/\r?\n$/, '') : undefined
  remark(at, `an instance has no ${value}: ${name} is its text instead, for an app that reads that`)
  return { ...fromEnv(name, text, `secret:${secret}`), isSecret: true }
}

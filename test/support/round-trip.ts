// Whether a text that was accepted is what the answer shows: byte for byte, or in the one form that its field
// is kept in.
import { posix } from 'node:path'
import type { Body } from './api.ts'
import type { StringField } from './string-fields.ts'

const relativePath = (text: string) => {
  const path = posix.normalize(text).replace(/\/$/, '')
  return path === '.' ? null : path
}

const domain = (text: string) => new URL(`http://${text.trim()}`).hostname.replace(/\.$/, '')

/** Fields that are kept in a form of their own. */
const forms: Record<string, (text: string) => string | null> = {
  branch: (text) => text || null,
  custom_domains: domain,
  domain,
  root_dir: relativePath,
  dockerfile_path: relativePath,
  publish_dir: relativePath,
  repo_url: (text) => (URL.canParse(text) ? new URL(text).href : text || null),
  image: (text) => (/:[^/]+$|^$/.test(text) ? text.trim() || null : `${text.trim()}:latest`),
}

/** What has no value that could be shown. */
const unshown = ['unset']

/** Null when it is, or when the answer shows no such field; else what is wrong. */
export function findChange({ way }: StringField, text: string, answer: Body): string | null {
  const shown = shownBy(answer, way)
  if (shown === null || unshown.includes(way[0]!)) return null
  return shown.includes(wantedFor(way, text))
    ? null
    : `${JSON.stringify(text)} became ${JSON.stringify(shown)}`
}

/** A text of a list is looked for in all of its entries: lists of variables are answered in order. */
function shownBy(answer: Body, [name = '', _, ...further]: string[]): Body[] | null {
  const value = Array.isArray(answer) ? answer : answer?.[name]
  if (value === undefined) return null
  return Array.isArray(value) ? value.map((entry) => further.reduce((at, key) => at[key], entry)) : [value]
}

function wantedFor([name = '', ...further]: string[], text: string): string | null {
  const form = forms[name]
  if (form) return form(text)
  return text === '' && further.length === 0 ? null : text
}

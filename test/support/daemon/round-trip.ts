// Whether the API returns an accepted text unchanged, or in the normal form of its field.
import { posix } from 'node:path'
import type { StringField } from '../http/string-fields.ts'
import type { Body } from './api.ts'

const relativePath = (text: string) => {
  const path = posix.normalize(text).replace(/\/$/, '')
  return path === '.' ? null : path
}

const domain = (text: string) => new URL(`http://${text.trim()}`).hostname.replace(/\.$/, '')

/** The normal forms of fields that have one. */
const forms: Record<string, (text: string) => string | null> = {
  branch: (text) => text || null,
  custom_domains: domain,
  domain,
  root_dir: relativePath,
  dockerfile_path: relativePath,
  publish_dir: relativePath,
  repo_url: (text) => (URL.canParse(text) ? new URL(text).href : text || null),
  submodule_owners: (text) => text.toLowerCase(),
  image: (text) => (/:[^/]+$|^$/.test(text) ? text.trim() || null : `${text.trim()}:latest`),
}

/** Fields without a readable value. */
const unshown = ['unset']

/** Null if the text is unchanged or the response has no such field, else the difference. */
export function findChange({ way }: StringField, text: string, response: Body): string | null {
  const shown = shownBy(response, way)
  if (shown === null || unshown.includes(way[0]!)) return null
  return shown.includes(wantedFor(way, text))
    ? null
    : `${JSON.stringify(text)} became ${JSON.stringify(shown)}`
}

/** All entries of a list are searched, because lists of variables are returned in sorted order. */
function shownBy(response: Body, [name = '', _, ...further]: string[]): Body[] | null {
  const value = Array.isArray(response) ? response : response?.[name]
  if (value === undefined) return null
  return Array.isArray(value) ? value.map((entry) => further.reduce((at, key) => at[key], entry)) : [value]
}

function wantedFor([name = '', ...further]: string[], text: string): string | null {
  const form = forms[name]
  if (form) return form(text)
  return text === '' && further.length === 0 ? null : text
}

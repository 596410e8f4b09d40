// Searches every file below a folder for a secret, in plain and in encoded form.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files that contain the secret in any form. */
export function filesWith(directory: string, secret: string): string[] {
  const forms = formsOf(secret)
  return filesBelow(directory).filter((path) => {
    const bytes = ifThere(() => readFileSync(path)) ?? Buffer.alloc(0)
    return forms.some((form) => bytes.includes(form))
  })
}

function filesBelow(directory: string): string[] {
  const entries = ifThere(() => readdirSync(directory, { withFileTypes: true })) ?? []
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

/** Files may disappear during the search; a missing file contains nothing. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The forms in which a secret could leak: plain, escaped for URLs and JSON, in hex and in base64. */
export function formsOf(secret: string): string[] {
  // Inside a longer text, base64 starts at one of three offsets, and the ends depend on the neighbours.
  const shifted = [0, 1, 2].map((offset) => Buffer.from(' '.repeat(offset) + secret).toString('base64'))
  const inner = shifted.map((text) => text.slice(4, -4))
  const hex = Buffer.from(secret).toString('hex')
  const escaped = [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  return [...new Set([secret, ...escaped, hex, hex.toUpperCase(), ...inner, ...inner.map(toUrlAlphabet)])]
}

function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_')
}

// Looks for a secret in every file below a folder, as it is and as it may have been encoded.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files that hold the secret in any of its forms. */
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

/** What is looked through may be in use: what has gone holds nothing any more. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** How a secret may look where it must not be: as it is, escaped for URLs and JSON, in hex and in base64. */
export function formsOf(secret: string): string[] {
  // Within a longer text base64 begins at one of three offsets; the ends depend on the neighbours.
  const shifted = [0, 1, 2].map((offset) => Buffer.from(' '.repeat(offset) + secret).toString('base64'))
  const inner = shifted.map((text) => text.slice(4, -4))
  const hex = Buffer.from(secret).toString('hex')
  const escaped = [encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
  return [...new Set([secret, ...escaped, hex, hex.toUpperCase(), ...inner, ...inner.map(toUrlAlphabet)])]
}

function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_')
}

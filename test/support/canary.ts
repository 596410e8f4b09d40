// Looks for a secret in every file below a folder, as it is and as it may have been encoded.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files that hold the secret in any of its forms. */
export function filesWith(directory: string, secret: string): string[] {
  const forms = formsOf(secret)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  return paths.filter((path) => {
    const bytes = readIfThere(path)
    return forms.some((form) => bytes.includes(form))
  })
}

/** What is looked through may be in use: a file that has gone holds nothing any more. */
function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
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

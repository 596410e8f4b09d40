// Looks for a secret in every file below a folder, as it is and as it may have been encoded.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files that hold the secret in plain, in base64 (at any offset) or in hex. */
export function filesWith(directory: string, secret: string): string[] {
  const forms = formsOf(secret)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  return paths.filter((path) => forms.some((form) => readFileSync(path).includes(form)))
}

function formsOf(secret: string): string[] {
  // Within a longer text base64 begins at one of three offsets; the ends depend on the neighbours.
  const shifted = [0, 1, 2].map((offset) => Buffer.from(' '.repeat(offset) + secret).toString('base64'))
  const inner = shifted.map((text) => text.slice(4, -4))
  const hex = Buffer.from(secret).toString('hex')
  return [secret, hex, hex.toUpperCase(), ...inner, ...inner.map(toUrlAlphabet)]
}

function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_')
}

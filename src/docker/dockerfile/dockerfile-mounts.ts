// Gives the cache mounts of a Dockerfile ids of their own: any two builds on an engine that name the same id
// or target share the folder. Only text inside lines is added, so that line numbers stay.
import { flagValues, stepsOf } from './dockerfile.ts'

/** The addition to a flag: the last `id` of a mount counts. */
const addition = (prefix: string) => `,id=${prefix}`

/** Returns the Dockerfile with the prefix added to the id of each `RUN --mount=type=cache`. */
export function withCacheIds(text: string, prefix: string): string {
  const additions = stepsOf(text)
    .filter((instruction) => instruction.getKeyword() === 'RUN')
    .flatMap((instruction) => flagValues(instruction, 'mount', text))
    .flatMap((start) => {
      const { end, value } = readFlag(text, start)
      const id = cacheIdOf(value)
      return id === null ? [] : [{ end, words: addition(prefix) + id }]
    })
  let result = text
  for (const { end, words } of additions.toReversed()) {
    result = result.slice(0, end) + words + result.slice(end)
  }
  return result
}

/** BuildKit's text of a step, without the additions. */
export function withoutCacheIds(text: string, prefix: string): string {
  if (prefix === '') return text
  return text
    .split(addition(prefix))
    .map((part, index) => (index === 0 ? part : part.replace(/^\S*/, '')))
    .join('')
}

/** The value as BuildKit reads it: without quotes and escapes, over continued lines, up to a space. */
function readFlag(text: string, start: number): { end: number; value: string } {
  let value = ''
  let quote: string | null = null
  let index = start
  while (index < text.length) {
    const continued = /^[\\`][ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text.slice(index, index + 4096))
    const char = text[index]!
    if (continued) {
      index += continued[0].length
      continue
    }
    if (quote === null && /\s/.test(char)) break
    if (char === quote) quote = null
    else if (quote === null && (char === '"' || char === "'")) quote = char
    else if (char === '\\' && index + 1 < text.length) value += text[++index]
    else value += char
    index++
  }
  return { end: index, value }
}

/** The id of a cache mount, which by default is its target; null for another mount. */
function cacheIdOf(value: string): string | null {
  const fields = new Map(
    value.split(',').map((field) => {
      const [key = '', ...rest] = field.split('=')
      return [key.toLowerCase(), rest.join('=')]
    }),
  )
  if (fields.get('type')?.toLowerCase() !== 'cache') return null
  const id = fields.get('id') ?? fields.get('target') ?? fields.get('dst') ?? fields.get('destination') ?? ''
  // Characters that would need quotes are replaced.
  return id.replace(/[^\w./:@${}-]/g, '_')
}

// Extended headers (pax): records of `length key=value` that override fields of the next entry's header. Only
// three keys are used; all others are skipped without being stored.
import { decodeText, invalid } from './tar-header.ts'

export interface PaxFields {
  name?: string
  linkName?: string
  sizeBytes?: number
}

/** Throws `archive_invalid` for broken records, and for sparse files, which have no plain content. */
export function parsePax(data: Buffer): PaxFields {
  const fields: PaxFields = {}
  // One character per byte: parsing takes a third of the time that parsing bytes takes.
  const text = data.toString('latin1')
  for (let start = 0; start < text.length; ) {
    const { key, valueStart, end } = recordAt(text, start)
    addField(fields, key, data.subarray(valueStart, end - 1))
    start = end
  }
  return fields
}

/** The length includes its own digits and the line break. */
function recordAt(text: string, start: number) {
  const blank = text.indexOf(' ', start)
  const digits = text.slice(start, Math.max(start, blank))
  const end = /^\d{1,10}$/.test(digits) ? start + Number(digits) : start
  const equals = text.indexOf('=', blank)
  const isComplete = start < blank && blank < equals && equals < end - 1 && text[end - 1] === '\n'
  if (!isComplete) throw invalid('has a broken extended header')
  return { key: text.slice(blank + 1, equals), valueStart: equals + 1, end }
}

function addField(fields: PaxFields, key: string, value: Buffer): void {
  if (key === 'path') fields.name = decodeText(value)
  else if (key === 'linkpath') fields.linkName = decodeText(value)
  else if (key === 'size') fields.sizeBytes = parseSize(value)
  else if (key.startsWith('GNU.sparse.')) throw invalid('has a sparse file: make it without --sparse')
}

function parseSize(value: Buffer): number {
  const digits = value.toString('latin1')
  if (!/^\d{1,15}$/.test(digits)) throw invalid('has an extended header with a broken size')
  return Number(digits)
}

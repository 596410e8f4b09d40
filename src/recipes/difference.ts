// What differs between two Dockerfiles.
import { structuredPatch } from 'diff'

const contextLines = 2

/** Lines that begin with `-`, `+`, or a blank for their surroundings. Empty if the texts are the same. */
export function difference(before: string, after: string): string[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: contextLines })
  return hunks.flatMap(({ lines }, index) => [...(index === 0 ? [] : ['…']), ...lines])
}

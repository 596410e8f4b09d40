// What differs between two Dockerfiles.
import { structuredPatch } from 'diff'

const contextLines = 2
/** The time to find more of them grows with their square. */
const maxChanges = 500

/** Lines that begin with `-`, `+`, or a blank for their surroundings. Empty if the texts are the same. */
export function difference(before: string, after: string): string[] {
  const options = { context: contextLines, maxEditLength: maxChanges }
  const patch = structuredPatch('', '', before, after, undefined, undefined, options)
  if (patch === undefined) return ['they differ in many lines']
  return patch.hunks.flatMap(({ lines }, index) => [...(index === 0 ? [] : ['…']), ...lines])
}

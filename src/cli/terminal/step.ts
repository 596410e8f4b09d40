// A step of the command line itself: a line that is redrawn while it runs, and stays when it is done.
import type { Output } from './output.ts'
import { phaseLine } from './phase-line.ts'

export interface Step<Result> {
  name: string
  detail(): string
  /** The text of the final line; null for no line. */
  summary(result: Result): string | null
  /** The start time, for a step that continues after a pause. */
  startedAt?: number
}

/** Without a live terminal, a step that takes longer prints its name. */
const announceAfterMs = 1000

/** Prints nothing when the work fails, because the error is reported separately. */
export async function showStep<Result>(
  out: Output,
  { name, detail, summary, startedAt = Date.now() }: Step<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const line = (mark: string, text: string) =>
    phaseLine(out, { mark, name, detail: text, durationMs: Date.now() - startedAt })
  const isSilent = out.isJson
  const timeout = setTimeout(() => {
    if (!out.isLive && !isSilent) out.say(` · ${name}`)
  }, announceAfterMs)
  if (!isSilent) out.animate((spinner) => [line(spinner, detail())])
  try {
    const result = await work()
    const output = summary(result)
    if (output !== null && !isSilent) out.say(line('✔', output))
    return result
  } finally {
    clearTimeout(timeout)
    out.rest()
  }
}

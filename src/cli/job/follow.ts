// Follows a job run. It belongs to the server: to stop following does not stop it.
import { once } from 'node:events'
import type { JobRun } from '../../api/job.ts'
import { sleep } from '../../async/sleep.ts'
import { jobPath } from '../client/client.ts'
import { followEvents, type LogLine, parseLogLine } from '../client/event-stream.ts'
import type { Cli } from '../client/session.ts'
import { CliFailure, exitCodes, interruption, withResumeHint } from '../failure.ts'
import type { OutputStream } from '../invocation.ts'
import { coloured, type Output, plain, wantsColour } from '../terminal/output.ts'
import { clip, paragraph, phaseLine } from '../terminal/phase-line.ts'

const retryMs = 500
/** How long to wait for a server that stops right after the last line of the log. */
const unreachableTimeoutMs = 60_000
const maxExitCode = 255

/**
 * Shows a run until it ends; --json prints its log lines as the API returns them. Ctrl-C throws (130).
 * `isFed` says whether the run has all of its input: without it, the server stops the run.
 */
export async function followRun(cli: Cli, { id, created_at }: JobRun, isFed: () => boolean): Promise<JobRun> {
  const { out, signal } = cli
  const startedAt = Date.parse(created_at)
  let phase = 'pending'
  const line = (mark: string) =>
    phaseLine(out, { mark, name: phase, detail: id, durationMs: Date.now() - startedAt })
  try {
    if (!out.isJson) out.animate((spinner) => [line(spinner)])
    for await (const { data } of followEvents(cli, `${jobPath(id)}/logs`, { query: { follow: true } })) {
      const logLine = parseLogLine(data)
      if (logLine.stream !== 'system' || logLine.mark === 'running') phase = 'running'
      await showLine(cli, logLine)
    }
    return await fetchFinishedRun(cli, id)
  } catch (error) {
    throw signal.aborted
      ? leaving(id, isFed())
      : withResumeHint(error, `to follow the run again: berth logs --job ${id} -f`)
  } finally {
    out.rest()
  }
}

/** Waits for a slow reader. */
async function showLine({ out, env, stdout, stderr }: Cli, line: LogLine): Promise<void> {
  if (out.isJson) out.json(line)
  else if (line.stream === 'stdout') out.print(stripControls(stdout, out.isColoured, line.line))
  else if (line.stream !== 'system') {
    out.say(stripControls(stderr, wantsColour(stderr, env), line.line))
  } else if (line.mark !== 'outcome') out.say(out.tint('dim', ` · ${onOneLine(out, line.line)}`))
  for (const stream of [stdout, stderr]) {
    if (stream.writableNeedDrain) await once(stream, 'drain')
  }
}

function onOneLine(out: Output, text: string): string {
  return out.isLive ? clip(plain(text), out.width() - 4) : plain(text)
}

/** Unchanged for a file or a program; at a terminal, control sequences that move the cursor are removed. */
function stripControls(stream: OutputStream, isColoured: boolean, text: string): string {
  if (!stream.isTTY) return text
  return isColoured ? coloured(text) : plain(text)
}

async function fetchFinishedRun({ client, signal }: Cli, id: string): Promise<JobRun> {
  for (const deadline = Date.now() + unreachableTimeoutMs; ; await sleep(retryMs, signal)) {
    try {
      return await client.call<JobRun>('GET', jobPath(id))
    } catch (error) {
      const isUnavailable = error instanceof CliFailure && error.exitCode === exitCodes.unreachable
      if (!isUnavailable || signal.aborted || Date.now() > deadline) throw error
    }
  }
}

function leaving(id: string, isFed: boolean): CliFailure {
  if (!isFed)
    return interruption('the run is stopped: it did not get all of its input', `berth logs --job ${id}`)
  const hint = `to follow it again: berth logs --job ${id} -f\nto stop it: berth cancel ${id}`
  return interruption('the run continues in the background', hint)
}

/** Prints the outcome. Returns the exit code: the code of the run, or 1 for a failed run without a code. */
export function concludeRun({ out }: Pick<Cli, 'out'>, run: JobRun): number {
  if (out.isJson) out.json(run)
  else reportOutcome(out, run)
  if (run.status === 'succeeded') return exitCodes.ok
  // A stopped run may have exited with 0 although it did not finish its work.
  const code = run.status === 'failed' ? Number(run.exit_code) : 0
  return code > 0 && code <= maxExitCode ? code : exitCodes.failed
}

function reportOutcome(out: Output, { id, status, error, created_at, finished_at }: JobRun): void {
  const isGood = status === 'succeeded'
  const durationMs = finished_at === null ? null : Date.parse(finished_at) - Date.parse(created_at)
  out.say(phaseLine(out, { mark: isGood ? '✔' : '✘', name: status, detail: id, durationMs }))
  if (isGood) return
  const room = out.isLive ? out.width() : Number.POSITIVE_INFINITY
  for (const line of paragraph(error ?? 'no reason available', '   ', room)) out.say(line)
}

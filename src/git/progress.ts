// git's standard error as readable lines. git rewrites a progress line with carriage returns: only its last
// state is shown, and one every few seconds, so that a long transfer does not look stuck.
const liveEveryMs = 5_000
const maxLineLength = 16_384
const interesting = /^(remote: +\S|warning: |Receiving |Resolving |Unpacking |Updating )/

export interface Progress {
  write(text: string): void
  /** Flushes the rest of the stream as a line. */
  end(): void
  /** The last lines that are not progress, for the reason of a failure. */
  outputLines(): string[]
}

export function createProgress(onLine: (line: string) => void): Progress {
  const lines: string[] = []
  let rest = ''
  let liveAt = performance.now()

  function show(line: string): void {
    liveAt = performance.now()
    if (interesting.test(line)) onLine(line)
  }

  function finished(text: string): void {
    if (text === '') return
    const line = clean(lastState(text))
    if (line === '') return
    if (!/: +\d+% \(/.test(line)) lines.push(line)
    if (lines.length > 50) lines.shift()
    show(line)
  }

  function passing(text: string): void {
    if (performance.now() - liveAt >= liveEveryMs) show(clean(text))
  }

  return {
    write(text) {
      const lines = (rest + text).split('\n')
      const unended = lines.pop() ?? ''
      lines.forEach(finished)
      rest = lastState(unended)
      if (rest.length < unended.length) passing(lastState(unended.slice(0, -rest.length)))
      if (rest.length > maxLineLength) this.end()
    },
    end() {
      finished(rest)
      rest = ''
    },
    outputLines: () => lines,
  }
}

/** What a return has not rewritten. ssh ends its lines with CR LF, so one at the end may belong to that. */
function lastState(line: string): string {
  return line.slice(line.lastIndexOf('\r', line.length - 2) + 1)
}

/** A remote may send anything here, including terminal control sequences. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').trimEnd()
}

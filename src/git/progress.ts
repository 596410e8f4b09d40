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
    const line = clean(text)
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
      // ssh ends its lines with CR LF; a CR at the end of a chunk may be the first half of that.
      const pieces = (rest + text).split(/(?<=\n|\r(?!\n|$))/)
      rest = pieces.at(-1)?.endsWith('\n') ? '' : (pieces.pop() ?? '')
      for (const piece of pieces) {
        if (piece.endsWith('\n')) finished(piece)
        else passing(piece)
      }
      if (rest.length > maxLineLength) this.end()
    },
    end() {
      finished(rest)
      rest = ''
    },
    outputLines: () => lines,
  }
}

/** A remote may send anything here, including terminal control sequences. */
function clean(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').trimEnd()
}

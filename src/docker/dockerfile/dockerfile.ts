// The instructions of a Dockerfile, for hints and for the choice of the builder: only the builder itself
// decides what a Dockerfile means. The text is untrusted, so reading it takes time linear in its length.

export interface Instruction {
  /** In capitals; of `ONBUILD RUN` the `RUN`. */
  keyword: string
  rest: string
}

/** Continued lines are joined. A line of a heredoc counts as an instruction. */
export function* instructionsOf(text: string): Generator<Instruction> {
  const escapeChar = /^#[ \t]*escape[ \t]*=[ \t]*`/im.test(text) ? '`' : '\\'
  let pieces: string[] = []
  for (const line of text.replace(/^\xEF\xBB\xBF/, '').split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue
    const piece = line.trimEnd()
    const isContinued = piece.endsWith(escapeChar)
    pieces.push(isContinued ? piece.slice(0, -1) : piece)
    if (isContinued) continue
    yield parse(pieces.join(''))
    pieces = []
  }
  if (pieces.length > 0) yield parse(pieces.join(''))
}

function parse(line: string): Instruction {
  const [, keyword = '', rest = ''] = /^\s*(?:onbuild\s+)?([a-z]*)(.*)$/is.exec(line) ?? []
  return { keyword: keyword.toUpperCase(), rest }
}

export function stagesOf(text: string): string[] {
  return [...instructionsOf(text)].flatMap(({ keyword, rest }) => {
    const [, as = '', name] = keyword === 'FROM' ? rest.split(/\s+/).filter(isNoFlag) : []
    return as.toUpperCase() === 'AS' && name !== undefined ? name : []
  })
}

function isNoFlag(word: string): boolean {
  return word !== '' && !word.startsWith('--')
}

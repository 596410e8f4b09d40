// Rules about English. They catch words and habits that a reader from outside stumbles over; most of good
// wording cannot be checked by a program.
import { commentsOf, visit } from './syntax.ts'
import { type Finding, lineAt, linesOf, product, type Rule, sources, type Tree } from './tree.ts'

/** What to write instead, by word. Each was used here in a sense that native speakers do not expect. */
const replacements: Record<string, string> = {
  'all the same': '"anyway", or nothing',
  'again and again': '"repeatedly", or how often',
  anew: '"again"',
  beside: '"next to", "in addition to" or "besides"',
  breach: '"violation"',
  'for ever': '"forever", or the limit',
  'in vain': '"without success", or the failure',
  'is none': '"does not exist"',
  lacks: '"has no"',
  meanwhile: 'when: "during the build"',
  mend: '"fix"',
  mended: '"fixed"',
  nobody: 'who: "no client", "no test"',
  'of ours': 'the owner: "of Berth", "of this module"',
  shall: '"must" or "should"',
  somebody: 'who: "a user", "another process"',
  tells: '"reports", "shows" or "logs"',
  told: '"reported", "notified" or "logged"',
  whoever: 'who: "the caller", "the user"',
}

const dialect = new RegExp(`\\b(${Object.keys(replacements).join('|')})\\b`, 'gi')

/** Comments everywhere; texts in the product only, because tests also hold texts of other programs. */
export const wordsArePlain: Rule = (tree) =>
  [...commentLines(tree), ...texts(tree)].flatMap(({ path, line, text }) =>
    [...withoutCode(text).matchAll(dialect)].map(([word]) => ({
      path,
      line,
      text: `"${word}": write ${replacements[word.toLowerCase()]}`,
    })),
  )

/** Names in backticks, such as the user `nobody`, are not words. */
function withoutCode(text: string): string {
  return text.replace(/`[^`]*`/g, '')
}

const document = /\b[\w./-]+\.md\b/g
const numberedSection = /(?<!RFC \d+,? )\bsection \d/i
const unnamedDocument = /\b(API document|decisions)\b/i

/** A reader must be able to open what a comment refers to. */
export const citationsCanBeOpened: Rule = (tree) =>
  commentLines(tree).flatMap(({ path, line, text }) => {
    const missing = [...text.matchAll(document)].map(([name]) => name).filter((name) => !tree.has(name))
    const vague = [numberedSection, unnamedDocument].flatMap((citation) => text.match(citation)?.[0] ?? [])
    return [...missing, ...vague].map((cited) => ({ path, line, text: `cites ${cited}` }))
  })

/** One word on a line of its own shows that a sentence was squeezed in. List items are not sentences. */
export const commentsEndInALine: Rule = (tree) =>
  sources(tree).flatMap(([path, text]) =>
    blocksOf(path, text).flatMap(({ line, lines }) => {
      const last = lines.at(-1) ?? ''
      const isWidow = lines.length > 1 && /^[^\s@-]\S*$/.test(last)
      return isWidow ? [{ path, line: line + lines.length - 1, text: `ends in the lone word "${last}"` }] : []
    }),
  )

function commentLines(tree: Tree): Finding[] {
  return sources(tree).flatMap(([path, text]) =>
    blocksOf(path, text).flatMap(({ line, lines }) =>
      lines.map((words, index) => ({ path, line: line + index, text: words })),
    ),
  )
}

function texts(tree: Tree): Finding[] {
  return sources(tree, product).flatMap(([path, text]) => {
    const found: Finding[] = []
    const add = (node: { start: number }, words: string) =>
      found.push({ path, line: lineAt(text, node.start), text: words })
    visit(path, text, {
      Literal(node) {
        if (typeof node.value === 'string' && node.value.includes(' ')) add(node, node.value)
      },
      TemplateElement: (node) => add(node, node.value.raw),
    })
    return found
  })
}

interface Block {
  /** The line of `lines[0]`. */
  line: number
  lines: string[]
}

/** Comments as their readers see them: `//` lines that follow each other are one. */
function blocksOf(path: string, text: string): Block[] {
  const source = linesOf(text)
  const blocks: Block[] = []
  for (const { line, words } of commentsOf(path, text)) {
    const previous = blocks.at(-1)
    const isLine = source[line - 1]?.trimStart().startsWith('//')
    const continues = previous && previous.line + previous.lines.length === line
    if (isLine && continues && source[line - 2]?.trimStart().startsWith('//'))
      previous.lines.push(words.trim())
    else blocks.push(toBlock(line, words))
  }
  return blocks
}

function toBlock(line: number, text: string): Block {
  const lines = text.split('\n').map((one) => one.replace(/^\s*\*+\s?/, '').trim())
  const first = lines.findIndex((one) => one !== '')
  const from = Math.max(0, first)
  while (lines.length > from + 1 && lines.at(-1) === '') lines.pop()
  return { line: line + from, lines: lines.slice(from) }
}

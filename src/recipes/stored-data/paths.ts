// The paths that a program gives to what keeps data, as far as its text shows them. Each expression looks at
// a bounded piece of text, so that the time stays linear.
import { posix } from 'node:path'

/** Where the app is in its image. */
export interface Home {
  /** What the top of the build context becomes. */
  top: string
  /** The working folder, from which relative paths count. */
  folder: string
}

export interface FoundPath {
  path: string
  /** The file of the source that names it. */
  file: string
  /** A variable whose value is taken instead. */
  variable: string | null
}

interface Literal {
  value: string
  /** What stands before it in its statement. */
  before: string
  after: string
}

const maxAround = 300
const maxLines = 4
const maxFound = 5
const literal = /(["'`])((?:(?!\1)[^\\\n]){1,200})\1/g
const fileName = /\.(db|db3|sqlite|sqlite3|s3db)$/i
const sqliteAddress = /^(?:jdbc:)?(?:sqlite3?(?:\+\w{1,20})?|h2:file):(\/*)([^/].*)$/i
const fileAddress = /^file:(\/*)([^/].*)$/i
const variables =
  /(?:\benv\.|\benviron(?:\.get)?[[(]|\bgetenv\(|\bENV(?:\.fetch)?[[(]|\benv\()["'`]?([A-Z][A-Z0-9_]{1,60})/g
/** Others in the same statement hold secrets or settings. */
const pathVariables =
  /(^|_)(PATH|DIR|DIRECTORY|FOLDER|FILE|FILENAME|DB|DATABASE|SQLITE|STORAGE|UPLOADS?|MEDIA|DATA|URL|URI)(_|$)/
/** What leads from the file that has the text, and not from the working folder. */
const ownFolder = /\b__dirname\b|\bimport\.meta\b|\b__file__\b|\b__DIR__\b|\b__dir__\b/

/** A file of the source, with what is assigned in it, by name. */
export interface Program {
  file: string
  text: string
  assigned: Map<string, string>
}

export function toProgram(file: string, text: string): Program {
  const assigned = new Map<string, string>()
  for (const { index, 1: name = '' } of text.matchAll(/\b([A-Za-z_]\w{0,60})\s?=[^=]/g))
    if (!assigned.has(name)) assigned.set(name, text.slice(index, index + maxAround).split(/[;\n]/)[0] ?? '')
  return { file, text, assigned }
}

/** The files of databases that a program names; a few are enough. */
export function findDatabases(program: Program, home: Home): FoundPath[] {
  return listLiterals(program.text)
    .flatMap((one) => {
      const path = readAddress(one.value)
      return path === null || /\breadonly|mode=ro\b/i.test(one.value + one.after)
        ? []
        : [{ ...one, value: path }]
    })
    .slice(0, maxFound)
    .map((one) => resolvePath(program, one, home))
}

/** The folders that a program names right behind what the expression finds, as in `dest: 'uploads'`. */
export function findFolders(program: Program, home: Home, behind: RegExp): FoundPath[] {
  return [...program.text.matchAll(behind)].slice(0, maxFound).flatMap(({ index, 0: { length } }) => {
    const [line = ''] = program.text.slice(index + length, index + length + maxAround).split('\n')
    const found = listLiterals(line).findLast(({ value }) => /^[\w./${}#-]*[\w/]$/.test(value))
    return found ? [resolvePath(program, found, home)] : []
  })
}

/** Relative addresses become relative paths. Null for what is no file of a database. */
function readAddress(value: string): string | null {
  const text = value.replace(/[?;].*$/, '')
  if (/[\s*%<>]|:memory:|\.backends\./.test(text)) return null
  const [, slashes = '', rest] = sqliteAddress.exec(text) ?? []
  // As SQLAlchemy has it: the fourth slash is that of an absolute path.
  if (rest !== undefined) return slashes.length === 1 || slashes.length > 3 ? `/${rest}` : rest
  const [, root = '', path = text] = fileAddress.exec(text) ?? []
  return fileName.test(path) ? `${root && '/'}${path}` : null
}

function listLiterals(text: string): Literal[] {
  return [...text.matchAll(literal)].flatMap(({ index, 0: quoted, 2: value = '' }) => {
    const before = lastStatement(text.slice(Math.max(0, index - maxAround), index))
    const after = text.slice(index + quoted.length, index + quoted.length + 80).split('\n')[0] ?? ''
    const outer = { value, before, after }
    // f"sqlite:///{BASE_DIR / 'db.sqlite3'}"
    const inner = /["'`]/.test(value) ? [...value.matchAll(literal)] : []
    return [
      outer,
      ...inner.map((one) => ({ value: one[2] ?? '', before: before + value.slice(0, one.index), after })),
    ]
  })
}

/** With the lines before it that are not complete. */
function lastStatement(text: string): string {
  const lines = text.slice(text.lastIndexOf(';') + 1).split('\n')
  let from = lines.length - 1
  while (from > 0 && lines.length - from < maxLines && /[(,=:?|{[+]\s*$/.test(lines[from - 1] ?? '')) from--
  return lines.slice(from).join('\n')
}

function resolvePath(program: Program, { value, before }: Literal, home: Home): FoundPath {
  const named = [...before.matchAll(variables)].map(([, name = '']) => name)
  const variable = named.findLast((name) => pathVariables.test(name)) ?? null
  const [placeholder = ''] = /^[#$]?\{[^}]*\}/.exec(value) ?? []
  const isJoined = placeholder !== '' || /[+.]\s*$/.test(before)
  const rest = isJoined ? value.slice(placeholder.length).replace(/^\/+/, '') : value
  const { start, parts } = readParts(before)
  const folder = findStart(program, start + placeholder, home)
  const path = posix.resolve(folder, ...parts, rest)
  const isOutside = !posix.isAbsolute(rest) && !`${path}/`.startsWith(`${home.top}/`)
  return {
    path: isOutside ? posix.join(home.folder, posix.basename(path)) : path,
    file: program.file,
    variable,
  }
}

/** What `join(start, 'data', ` or `start / "data" / ` puts before a literal. */
function readParts(before: string): { start: string; parts: string[] } {
  // Of a call inside, only whether it leads from the file counts.
  const flat = [1, 2, 3].reduce(
    (text) =>
      text.replace(/[\w.]{0,60}\(([^()]{0,200})\)/g, (call) => (ownFolder.test(call) ? namesOf(call) : '')),
    before,
  )
  const [, call] = /(?:join|resolve|joinpath)\(([^()]{0,250})$/i.exec(flat) ?? []
  const [divided] = /[\w. ]{1,90}\/\s?(?:["'][^"'\n]{1,60}["']\s?\/\s?){0,5}$/.exec(flat) ?? []
  const text = call ?? divided ?? (/[+.]\s*$/.test(flat) ? flat : '')
  const named =
    call === undefined && divided === undefined ? [] : listLiterals(text).map(({ value }) => value)
  // Of a variable, the name is no part.
  const parts = named.filter((part) => !part.startsWith('/') && !/^[A-Z][A-Z0-9_]+$/.test(part))
  return { start: text.replace(literal, ''), parts }
}

function namesOf(call: string): string {
  return ` ${call.replace(/[()]/g, ' ').slice(0, 120)} `
}

/** A name as BASE_DIR stands for a folder above its file, or for the working folder. */
function findStart({ file, assigned }: Program, start: string, { top, folder }: Home): string {
  const [name = ''] =
    /[A-Za-z_]{0,40}(?:dir|root|here|base)[A-Za-z_]{0,40}/i.exec(start.replace(ownFolder, '')) ?? []
  const line = assigned.get(name) ?? start
  if (!ownFolder.test(line)) return folder
  const steps = Math.min(line.match(/\bparent\b|\bdirname\b/g)?.length ?? 1, 5)
  return posix.resolve(top, posix.dirname(file), ...Array(Math.max(steps, 1) - 1).fill('..'))
}

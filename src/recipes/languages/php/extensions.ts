// The extensions of PHP that a source asks for, without those that the image has.
import type { Tree } from '../../tree.ts'

const present = new Set(
  `ctype curl dom fileinfo filter hash iconv json libxml mbstring openssl pcre pdo pdo_sqlite phar posix
  random readline reflection session simplexml sodium spl sqlite3 standard tokenizer xml xmlreader xmlwriter
  zlib`.split(/\s+/),
)

export function readExtensions(app: Tree, ofFramework: string[]): string[] {
  const names = Object.keys(readRequired(app)).flatMap((name) => /^ext-([\w-]+)$/.exec(name)?.[1] ?? [])
  const wanted = [...names.map((name) => name.toLowerCase().replace('zend-', '')), ...ofFramework]
  return [...new Set(wanted)].filter((name) => !present.has(name)).sort()
}

/** Packages, `php` itself and extensions, with their versions. */
export function readRequired(app: Tree): Record<string, unknown> {
  return (app.json('composer.json').require ?? {}) as Record<string, unknown>
}

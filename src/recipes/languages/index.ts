// The languages that recipes know, in the order in which they are looked for: an app of Ruby or PHP often
// has a package.json for its assets.
import { deno } from './deno.ts'
import { go } from './go/go.ts'
import { java } from './java/java.ts'
import type { Language } from './language.ts'
import { node } from './node/node.ts'
import { pages } from './pages.ts'
import { php } from './php/php.ts'
import { python } from './python/python.ts'
import { ruby } from './ruby/ruby.ts'
import { rust } from './rust/rust.ts'
import { shell } from './shell.ts'
import { unknown } from './unknown.ts'

export const languages: Language[] = [php, go, java, rust, ruby, python, deno, node, unknown, shell, pages]

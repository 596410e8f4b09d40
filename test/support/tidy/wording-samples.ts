// For each rule about English, comments that follow it and comments that break it.
import type { RuleName } from './rules.ts'
import type { Sample } from './samples.ts'

const broken = (files: Sample['clean'], ...says: string[]) => ({ files, says })

export const wordingSamples = {
  'comments and messages use plain words': {
    clean: {
      'src/a.ts': "// The daemon retries.\nexport const text = 'no client is connected'",
      'test/a.ts': "export const text = 'told'",
    },
    broken: [
      broken({ 'src/a.ts': '// Made anew.\nexport const a = 1' }, 'src/a.ts:1 "anew": write "again"'),
      broken(
        { 'test/a.ts': '/**\n * Nobody reads it.\n */' },
        'test/a.ts:2 "Nobody": write who: "no client", "no test"',
      ),
      broken(
        { 'src/a.ts': 'export const text = `\n${1} is told`' },
        'src/a.ts:2 "told": write "reported", "notified" or "logged"',
      ),
    ],
  },
  'comments cite what a reader can open': {
    clean: { 'docs/a.md': '', 'src/a.ts': '// See docs/a.md and RFC 8555 section 7.4.' },
    broken: [
      broken({ 'src/a.ts': '// See docs/a.md.' }, 'src/a.ts:1 cites docs/a.md'),
      broken({ 'src/a.ts': '// As in section 5.' }, 'src/a.ts:1 cites section 5'),
      broken({ 'src/a.ts': '// See decisions "Errors".' }, 'src/a.ts:1 cites decisions'),
    ],
  },
  'no comment ends in a lone word': {
    clean: {
      'src/a.ts': '// One\n\n// A sentence that continues\n// on two lines.\n/**\n * - a\n * - b\n */',
    },
    broken: [
      broken(
        { 'src/a.ts': '// A sentence that\n// continues.' },
        'src/a.ts:2 ends in the lone word "continues."',
      ),
      broken({ 'src/a.ts': '/**\n * It is\n * long.\n */' }, 'src/a.ts:3 ends in the lone word "long."'),
    ],
  },
} satisfies Partial<Record<RuleName, Sample>>

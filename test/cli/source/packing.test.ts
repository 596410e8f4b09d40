// The warning about packages that are excluded from a static site without a build.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cli } from '../../../src/cli/client/session.ts'
import { warnOfMissingPackages } from '../../../src/cli/source/packing.ts'
import type { Source, SourceEntry } from '../../../src/cli/source/source-entries.ts'

const entry = (path: string): SourceEntry => ({ path, kind: 'file', mode: 0o644, sizeBytes: 1, target: '' })

function warn(
  ignored: string[],
  site: Partial<Parameters<typeof warnOfMissingPackages>[2]>,
  paths: string[] = ['index.html'],
): string {
  const lines: string[] = []
  const out = { say: (text: string) => lines.push(text), tint: (_: string, words: string) => words }
  const source = {
    entries: paths.map(entry),
    ignored: ignored.map((path) => ({ path, reason: 'by default' })),
  }
  warnOfMissingPackages({ out } as unknown as Cli, source as unknown as Source, {
    type: 'static_site',
    ...site,
  })
  return lines.join('\n')
}

test('excluded packages inside the published folder cause a warning; those outside do not', () => {
  const ignored = ['node_modules/', 'public/lib/node_modules/', 'publications/node_modules/']
  const way = 'if its pages need it, write !node_modules into .berthignore'
  assert.equal(
    warn(ignored, { publish_dir: 'public' }),
    `   ! the site is without public/lib/node_modules/: ${way}`,
  )
  assert.match(warn(ignored, {}), /without node_modules\/, public\/lib\/node_modules\/, publications/)
  assert.match(
    warn(['web/public/node_modules/'], { root_dir: 'web', publish_dir: './public' }),
    /web\/public/,
  )
  assert.equal(warn(['public/.env', 'dist/'], { publish_dir: 'public' }), '')
})

test('no warning for a Dockerfile build or a service that is not a static site', () => {
  assert.equal(warn(['node_modules/'], {}, ['index.html', 'Dockerfile']), '')
  assert.equal(warn(['node_modules/'], { dockerfile_path: 'site.df' }, ['site.df']), '')
  assert.equal(warn(['node_modules/'], { type: 'web_service' }), '')
})

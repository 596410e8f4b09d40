// Which builder a source gets.
import assert from 'node:assert/strict'
import { realpathSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { BuildJob } from '../../src/builders/builder.ts'
import { chooseBuilder } from '../../src/builders/index.ts'
import type { ServiceSettings } from '../../storage/services.ts'
import { writeTree } from '../support/archive/write-tree.ts'
import { standIn } from '../support/effects/stand-in.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

type Case = [
  builder: string,
  files: string[],
  settings?: Partial<ServiceSettings>,
  live?: 'recipe' | 'dockerfile',
]

const site = { type: 'static_site' } as const
const page = { ...site, publish_dir: 'www' }

const cases: Case[] = [
  ['dockerfile', ['Dockerfile', 'package.json', 'server.js']],
  ['dockerfile', ['Containerfile', 'package.json', 'server.js']],
  ['dockerfile', ['dockerFile', 'package.json', 'server.js']],
  ['recipe', ['package.json', 'server.js']],
  ['recipe', ['docker/Dockerfile', 'package.json', 'server.js']],
  ['dockerfile', ['web/Dockerfile', 'package.json', 'server.js'], { root_dir: 'web' }],
  ['recipe', ['Dockerfile', 'web/package.json', 'web/server.js'], { root_dir: 'web' }],
  ['dockerfile', ['package.json', 'server.js'], { dockerfile_path: 'gone' }],
  ['dockerfile', ['package.json', 'server.js'], { builder: 'dockerfile' }],
  ['recipe', ['Dockerfile', 'package.json', 'server.js'], { builder: 'recipe' }],
  ['recipe', ['README.md'], { builder: 'recipe' }],
  ['recipe', ['package.json', 'server.js'], {}, 'recipe'],
  ['dockerfile', ['package.json', 'server.js'], {}, 'dockerfile'],
  ['recipe', ['package.json', 'server.js'], { builder: 'recipe' }, 'dockerfile'],
  ['recipe', ['README.md']],
  ['dockerfile', ['Dockerfile', 'index.html'], site],
  ['static-site', ['index.html'], site],
  ['static-site', ['www/index.html', 'other/index.html'], page],
  ['static-site', ['public/index.html'], page],
  ['recipe', ['public/index.html'], site],
  ['static-site', ['public/index.html'], site, 'dockerfile'],
  ['static-site', ['package.json', 'server.js'], site],
  ['static-site', ['README.md'], site],
  ['recipe', ['index.html']],
]

for (const [builder, files, settings = {}, live] of cases) {
  const circumstances = [...Object.values(settings), ...(live ? [`live by ${live}`] : [])]
  test(`${[files.join(' '), ...circumstances].join(', ')}: ${builder}`, async (t) => {
    assert.equal((await chooseBuilder(prepareJob(t, files, settings, live))).name, builder)
  })
}

function prepareJob(
  t: TestContext,
  files: string[],
  settings: Partial<ServiceSettings>,
  live: Case[3],
): BuildJob {
  const checkout = realpathSync(temporaryDirectory(t))
  writeTree(checkout, Object.fromEntries(files.map((path) => [path, path.endsWith('.json') ? '{}' : ''])))
  return standIn<BuildJob>({
    checkout,
    serviceName: 'web',
    settings: serviceRow(settings),
    envKeys: [],
    live: live === undefined ? null : { recipe: live === 'recipe' ? {} : null },
  }) as BuildJob
}

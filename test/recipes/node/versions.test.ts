// Which Node.js runs an app.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choicesOf, instructionsOf } from '../../support/recipes/recipe-of.ts'

const cases: {
  when: string
  manifest?: object
  files?: Record<string, string>
  tag: string
  because: string
}[] = [
  { when: 'nothing', tag: '24', because: 'the usual version, because the source asks for none' },
  {
    when: 'an exact version',
    manifest: { engines: { node: '20.11.1' } },
    tag: '20.11.1',
    because: 'engines.node "20.11.1" in package.json',
  },
  {
    when: 'a range',
    manifest: { engines: { node: '18.x || 20.x' } },
    tag: '20',
    because: 'engines.node "18.x || 20.x" in package.json',
  },
  {
    when: 'a lower limit and a version to work with',
    manifest: { engines: { node: '>=18' } },
    files: { '.nvmrc': 'v20.9.0\n' },
    tag: '20.9.0',
    because: 'v20.9.0 in .nvmrc',
  },
  {
    when: 'a range and another version to work with',
    manifest: { engines: { node: '22.x' } },
    files: { '.nvmrc': '20' },
    tag: '22',
    because: 'engines.node "22.x" in package.json',
  },
  {
    when: 'a range of old versions',
    manifest: { engines: { node: '>= 8.9.0 < 13' } },
    tag: '12',
    because: 'engines.node ">= 8.9.0 < 13" in package.json',
  },
  { when: 'the release before', files: { '.nvmrc': 'lts/-1' }, tag: '22', because: 'lts/-1 in .nvmrc' },
  {
    when: 'a version that nobody knows',
    manifest: { engines: { node: '99' } },
    tag: '99',
    because: 'engines.node "99" in package.json, newer than Berth knows',
  },
  {
    when: 'a range without an image',
    manifest: { engines: { node: '<4' } },
    tag: '24',
    because: 'the usual version, because no version is known for engines.node "<4" in package.json',
  },
  { when: 'a name of a release', files: { '.nvmrc': 'lts/jod' }, tag: '22', because: 'lts/jod in .nvmrc' },
  {
    when: 'the version of Volta',
    manifest: { volta: { node: '22.1.0' } },
    tag: '22.1.0',
    because: 'volta.node "22.1.0" in package.json',
  },
]

for (const { when, manifest = {}, files = {}, tag, because } of cases) {
  test(`${when} leads to node ${tag}`, () => {
    const source = { files: { 'package.json': { ...manifest, main: 'a.js' }, 'a.js': '', ...files } }
    assert.deepEqual(
      instructionsOf(source).filter((line) => line.startsWith('FROM')),
      [`FROM node:${tag} AS build`, `FROM node:${tag}-slim AS app`],
    )
    assert.equal(choicesOf(source)[0], `node ${tag}: ${because}`)
  })
}

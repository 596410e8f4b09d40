// The error for a source without a Dockerfile: where Berth looked, what it found, and a suggested Dockerfile.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { suggestionLines } from '../../../../src/effects/deploy/build/dockerfile.ts'
import { temporaryDirectory } from '../../../support/system/directory.ts'

function projectWith(t: TestContext, ...files: string[]): string {
  const directory = temporaryDirectory(t)
  for (const file of files) writeFileSync(join(directory, file), '')
  return directory
}

const kinds: [file: string, kind: string, from: string][] = [
  ['package.json', 'a Node.js project', 'node:22-slim'],
  ['requirements.txt', 'a Python project', 'python:3.13-slim'],
  ['go.mod', 'a Go project', 'golang:1.24 AS build'],
  ['Cargo.toml', 'a Rust project', 'rust:1 AS build'],
  ['Gemfile', 'a Ruby project', 'ruby:3.4-slim'],
  ['index.html', 'a folder of web pages', 'nginx:alpine'],
]

for (const [file, kind, from] of kinds) {
  test(`a folder with ${file} looks like ${kind}, and gets a complete Dockerfile`, async (t) => {
    const lines = await suggestionLines(projectWith(t, file, 'README.md'), 'app/Dockerfile')

    assert.deepEqual(lines.slice(0, 3), [
      `looked for app/Dockerfile and found none; this looks like ${kind}`,
      'a Dockerfile to start from:',
      `    FROM ${from}`,
    ])
    const instructions = lines.slice(2, -1).map((line) => /^ {4}([A-Z]+) \S/.exec(line)?.[1])
    assert.ok(instructions.every(Boolean), lines.join('\n'))
    assert.ok(instructions.includes('COPY'))
    assert.equal(lines.at(-1), 'commit it and deploy again')
  })
}

test('a web page next to a package.json is part of the Node.js project', async (t) => {
  const [first] = await suggestionLines(projectWith(t, 'index.html', 'package.json'), 'Dockerfile')
  assert.match(first!, /a Node\.js project$/)
})

test('only the folder itself is inspected, not its subfolders', async (t) => {
  const directory = projectWith(t)
  mkdirSync(join(directory, 'web'))
  writeFileSync(join(directory, 'web', 'package.json'), '')
  const lines = await suggestionLines(directory, 'Dockerfile')
  assert.deepEqual(lines, [
    'looked for Dockerfile and found none; this looks like a project of an unknown kind',
  ])
})

// Recipes for scripts and pages, and what no recipe knows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const scripts: Record<string, string> = {
  '#!/usr/bin/env bash\n': 'bash start.sh',
  '#!/bin/sh -e\n': 'sh start.sh',
  '#!/bin/zsh\n': 'zsh start.sh',
  'echo hello': 'bash start.sh',
}

for (const [text, command] of Object.entries(scripts))
  test(`a script that begins with ${JSON.stringify(text)} starts with its shell`, () =>
    assert.equal(startOf({ 'start.sh': text }), command))

test('a shell that Debian does not bring is installed', () => {
  assert.match(dockerfileOf({ 'start.sh': '#!/bin/zsh' }), /apt-get install .* zsh /)
  assert.doesNotMatch(dockerfileOf({ 'start.sh': '#!/bin/bash' }), /apt-get/)
})

test('a Staticfile says which folder is served, and what unknown paths are', () => {
  const { site, stages } = recipeOf({
    Staticfile: 'root: ./hello/\nindex_fallback: true',
    'hello/index.html': '',
  })
  assert.deepEqual(site, { folder: '/site', fallback: true })
  assert.deepEqual(stages[0]?.steps, [
    { do: 'copy', from: null, paths: ['hello/'], to: '/site/', owner: null },
  ])
  assert.equal(recipeOf({ 'index.html': '' }).site?.fallback, false)
})

const unknowns: Record<string, string> = {
  'mix.exs': 'Elixir is not known yet (there is mix.exs)',
  'api/api.csproj': '.NET is not known yet (there is api/api.csproj)',
  'App.sln api/api.csproj': '.NET is not known yet (there is App.sln)',
  'hugo.toml archetypes/default.md': 'Hugo is not known yet (there is hugo.toml)',
  'config.toml archetypes/default.md content/_index.md': 'Hugo is not known yet (there is config.toml)',
  'config.toml content/_index.md templates/index.html': 'Zola is not known yet (there is config.toml)',
}

for (const [paths, problem] of Object.entries(unknowns))
  test(`a refusal names what ${paths} shows`, () => {
    const files = Object.fromEntries(paths.split(' ').map((path) => [path, '']))
    assert.equal(problemOf({ ...files, 'start.sh': '', 'index.html': '' }), problem)
  })

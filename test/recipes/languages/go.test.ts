// Recipes for Go.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const main = 'package main\n\nfunc main() {\n}\n'
const module = { 'go.mod': 'module example.com/shop/v2\n\ngo 1.23.1\n', 'go.sum': '' }
const two = { ...module, 'cmd/api/main.go': main, 'cmd/worker/main.go': main }

const programs: Record<string, [Record<string, string>, string]> = {
  'at the top, in a file of any name': [{ ...module, 'app.go': main }, '-o /out/bin/shop .'],
  'in cmd': [
    { ...module, 'cmd/server/main.go': main, 'shop.go': 'package shop' },
    '-o /out/bin/server ./cmd/server',
  ],
  'at the top, with others in cmd': [{ ...two, 'main.go': main }, '-o /out/bin/shop .'],
  'that is no example': [{ ...two, 'examples/a/main.go': main, Procfile: 'web: worker -v' }, './cmd/worker'],
  'that the start command names': [{ ...two, Procfile: 'web: ./api --port $PORT' }, '-o /out/api ./cmd/api'],
  'that `go run` names': [{ ...two, Procfile: 'web: go run ./cmd/api' }, '-o /out/bin/api ./cmd/api'],
  'that is built only by hand': [
    { ...module, 'main.go': main, 'gen/gen.go': `//go:build ignore\n\n${main}` },
    '-o /out/bin/shop .',
  ],
  'of a workspace': [
    { 'go.work': 'go 1.23\nuse ./api', 'api/go.mod': 'module api', 'api/main.go': main, 'lib/go.mod': '' },
    '-o /out/bin/api ./api',
  ],
}

for (const [what, [source, part]] of Object.entries(programs))
  test(`a program ${what} is built`, () =>
    assert.ok(dockerfileOf(source).includes(part), dockerfileOf(source)))

test('a start command finds the program where it expects it', () => {
  const source = (web: string) => ({ ...module, 'main.go': main, Procfile: `web: ${web}` })
  assert.match(dockerfileOf(source('./out/server')), /-o \/out\/out\/server \./)
  assert.equal(startOf(source('./out/server')), './out/server')
  assert.match(dockerfileOf(source('shop')), /-o \/out\/bin\/shop \.\n(.*\n)+ENV PATH="\/app\/bin:\$PATH"/)
  assert.match(dockerfileOf({ ...source('./start.sh'), 'start.sh': '' }), /-o \/out\/bin\/shop \./)
  assert.match(dockerfileOf(source('/bin/sh -c shop')), /-o \/out\/bin\/shop \./)
  assert.equal(startOf(source('go run main.go')), '/app/bin/shop')
})

test('several programs are refused with a list', () => {
  const problem = 'it has several programs (cmd/api, cmd/worker), so the start command must name one'
  assert.equal(problemOf(two), problem)
  assert.match(problemOf({ ...module, 'shop.go': 'package shop' }), /^it has no program/)
})

test('an app in a folder of a workspace is built with the workspace', () => {
  const source = {
    'go.work': 'go 1.24',
    'api/go.mod': 'module api',
    'api/main.go': main,
    'api/templates/a.html': '',
    'web/go.mod': 'module web',
    'web/main.go': main,
  }
  const { context } = recipeOf(source, {}, 'web')
  assert.equal(context, '')
  const dockerfile = dockerfileOf(source, {}, 'api')
  assert.match(dockerfile, /COPY api\/go\.mod \.\/api\/\nCOPY go\.work \.\/\nCOPY web\/go\.mod \.\/web\/\n/)
  assert.match(dockerfile, /-o \/out\/bin\/api \.\/api\n/)
  assert.match(
    dockerfile,
    /^RUN cd \/src && for path in api; .*\nRUN cd \/src\/api && for path in templates; /m,
  )
})

test('the version is the one of the module, or of a tool that names it', () => {
  const from = (source: Record<string, string>) =>
    /^FROM (\S+)/m.exec(dockerfileOf({ 'main.go': main, ...source }))?.[1]
  assert.equal(from(module), 'golang:1.23')
  assert.equal(from({ 'go.mod': 'go 1.22.0\n\ntoolchain go1.24.2\n' }), 'golang:1.24')
  assert.equal(from({ ...module, '.tool-versions': 'golang 1.25.1' }), 'golang:1.25.1')
  assert.equal(from({}), 'golang:1.26')
})

test('the last stage has the program and its data', () => {
  const dockerfile = dockerfileOf({
    ...module,
    'main.go': main,
    'internal/db/db.go': '',
    'static/my files/a.css': '',
    'views/a.html': '',
    'README.md': '',
    '.github/a.yml': '',
    'config.yaml': '',
  })
  assert.match(dockerfile, /^RUN cd \/src && for path in config\.yaml static views; do /m)
  const odd = { "it's $(here)/a.css": '' }
  assert.match(dockerfileOf({ ...module, 'main.go': main, ...odd }), /for path in 'it'\\''s \$\(here\)'; do /)
})

test('only known bindings of C libraries are built with cgo', () => {
  assert.match(dockerfileOf({ ...module, 'main.go': main }), /^ENV CGO_ENABLED=0$/m)
  const go = 'module a\ngo 1.24\nrequire (\n\tgithub.com/davidbyttow/govips/v2 v2.16.0\n)'
  const dockerfile = dockerfileOf({ 'go.mod': go, 'main.go': main })
  assert.match(dockerfile, /^FROM golang:1\.24-bookworm AS build\nRUN .* libvips-dev /m)
  assert.match(dockerfile, /^FROM debian:bookworm-slim AS app\nRUN .* ca-certificates libvips42 /m)
  assert.doesNotMatch(dockerfile, /CGO_ENABLED/)
  const old = dockerfileOf({ 'go.mod': go.replace('1.24', '1.15'), 'main.go': main })
  assert.match(old, /^FROM golang:1\.15 AS build$/m)
})

test('vendored modules are not downloaded', () => {
  const source = { ...module, 'main.go': main }
  assert.match(dockerfileOf(source), /go mod download/)
  assert.doesNotMatch(dockerfileOf({ ...source, 'vendor/modules.txt': '' }), /go mod download/)
  assert.doesNotMatch(dockerfileOf({ ...source, 'vendor/a/go.mod': '' }), /vendor/)
  assert.match(dockerfileOf({ 'main.go': main }), /go mod init app && go mod tidy/)
})

test('assets of a package.json are built before the program, which may embed them', () => {
  const source = { ...module, 'main.go': main }
  const dockerfile = dockerfileOf({ ...source, 'package.json': '{"scripts":{"build":"vite build"}}' })
  assert.match(dockerfile, /npm install\nCOPY \. \.\nRUN npm run build\n(.*\n)?RUN .*go build /)
  assert.doesNotMatch(dockerfileOf({ ...source, 'package.json': '{"dependencies":{"a":"1"}}' }), /npm/)
})

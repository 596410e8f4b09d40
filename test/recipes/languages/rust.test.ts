// Recipes for Rust.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerfileOf, problemOf, recipeOf, startOf } from '../../support/recipes/recipes.ts'

const crate = { 'Cargo.toml': '[package]\nname = "shop"', 'src/main.rs': '', 'Cargo.lock': '' }
const two = { ...crate, 'src/bin/worker.rs': '' }
const workspace = (settings: string) => ({
  'Cargo.toml': `[workspace]\nmembers = ["crates/*"]\n${settings}`,
  'crates/api/Cargo.toml': '[package]\nname = "api"',
  'crates/api/src/main.rs': '',
  'crates/api/static/a.css': '',
  'crates/tool/Cargo.toml': '[package]\nname = "tool"\n[[bin]]\nname = "convert"\npath = "src/main.rs"',
  'crates/tool/src/main.rs': '',
  'other/Cargo.toml': '[package]\nname = "other"',
  'other/src/main.rs': '',
})

const programs: Record<string, [Record<string, string>, string]> = {
  'of a package': [
    crate,
    '--locked --package shop --bin shop && install -D target/release/shop /out/bin/shop',
  ],
  'without a lock file': [{ ...crate, 'Cargo.toml': '[package]\nname = "a"' }, '--package a --bin a '],
  'in a folder of programs': [
    { 'Cargo.toml': '[package]\nname = "a"', 'src/lib.rs': '', 'src/bin/serve/main.rs': '' },
    '--package a --bin serve ',
  ],
  'that cargo runs': [
    { ...two, 'Cargo.toml': '[package]\nname = "shop"\ndefault-run = "worker"' },
    '--package shop --bin worker ',
  ],
  'that the start command names': [
    { ...two, Procfile: 'web: ./target/release/shop' },
    ' /out/target/release/shop',
  ],
  'that `cargo run` names': [
    { ...two, Procfile: 'web: cargo run --bin worker' },
    '--bin worker && install -D target/release/worker /out/bin/worker',
  ],
  'of a default member': [workspace('default-members = ["crates/tool"]'), '--package tool --bin convert '],
}

for (const [what, [source, part]] of Object.entries(programs))
  test(`a program ${what} is built`, () =>
    assert.ok(dockerfileOf(source).includes(part), dockerfileOf(source)))

test('several programs are refused with a list', () => {
  assert.match(problemOf(two), /^it has several programs \(worker, shop\)/)
  assert.match(problemOf(workspace('')), /^it has several programs \(api, convert\)/)
  assert.match(problemOf({ 'Cargo.toml': '[package]\nname = "a"', 'src/lib.rs': '' }), /no src\/main\.rs/)
})

test('an app in a folder of a workspace is built with the workspace', () => {
  assert.equal(recipeOf(workspace(''), {}, 'crates/api').context, '')
  const dockerfile = dockerfileOf(workspace(''), {}, 'crates/api')
  assert.match(dockerfile, /--package api --bin api /)
  assert.match(dockerfile, /^RUN cd \/src\/crates\/api && for path in static; do /m)
})

test('a package of JavaScript with parts in Rust is one of JavaScript', () => {
  const source = { 'package.json': '{"scripts":{"start":"node a.js"}}', 'Cargo.toml': '', 'src/lib.rs': '' }
  assert.equal(recipeOf(source).title, 'Node.js')
})

test('Rocket listens where it must', () => {
  const source = { ...crate, 'Cargo.toml': '[package]\nname = "shop"\n[dependencies]\nrocket = "0.5"' }
  assert.equal(startOf(source), 'env ROCKET_PORT=$PORT /app/bin/shop')
  assert.match(dockerfileOf(source), / ROCKET_ADDRESS=0\.0\.0\.0$/m)
  assert.deepEqual([recipeOf(source).port, recipeOf(crate).port], [8000, 8080])
})

test('the version is the one of the toolchain, and else not below the least', () => {
  const from = (source: Record<string, string>) =>
    /^FROM (\S+)/m.exec(dockerfileOf({ ...crate, ...source }))?.[1]
  assert.equal(from({ 'rust-toolchain.toml': '[toolchain]\nchannel = "1.85"' }), 'rust:1.85-bookworm')
  assert.equal(from({ 'rust-toolchain': '1.60.0\n' }), 'rust:1.60.0')
  assert.equal(from({ 'rust-toolchain.toml': '[toolchain]\nchannel = "stable"' }), 'rust:1-bookworm')
  assert.equal(from({ 'Cargo.toml': '[package]\nname = "a"\nrust-version = "1.56"' }), 'rust:1-bookworm')
})

test('libraries are those that the locked crates use', () => {
  const dockerfile = dockerfileOf({
    ...crate,
    'Cargo.lock': '[[package]]\nname = "pq-sys"\n',
    '.sqlx/a.json': '',
  })
  assert.match(dockerfile, /^FROM debian:bookworm-slim AS app\nRUN .* libpq5 /m)
  assert.match(dockerfile, /^ENV SQLX_OFFLINE=true$/m)
})

test('what is kept between builds cannot pass for a newer source', () => {
  assert.match(dockerfileOf(crate), /target=\/src\/target.* -exec touch \{\} \+ && cargo build /)
})

test('assets of a package.json are built before the program, which may embed them', () => {
  const source = crate
  const dockerfile = dockerfileOf({ ...source, 'package.json': '{"scripts":{"build":"vite build"}}' })
  assert.match(dockerfile, /npm install\nCOPY \. \.\nRUN npm run build\n(.*\n)?RUN .*cargo build /)
  assert.doesNotMatch(dockerfileOf({ ...source, 'package.json': '{"dependencies":{"a":"1"}}' }), /npm/)
})

// What crates need from Debian, besides the compilers of the full image.
import type { Tree } from '../../tree.ts'

interface Need {
  crates: string[]
  build: string[]
  run: string[]
}

const needs: Need[] = [
  { crates: ['openssl-sys', 'openssl'], build: [], run: ['ca-certificates', 'libssl3'] },
  {
    crates: ['rustls-native-certs', 'rustls-platform-verifier', 'native-tls'],
    build: [],
    run: ['ca-certificates'],
  },
  { crates: ['pq-sys'], build: [], run: ['libpq5'] },
  { crates: ['mysqlclient-sys'], build: [], run: ['libmariadb3'] },
  { crates: ['rusqlite', 'diesel'], build: [], run: ['libsqlite3-0'] },
  { crates: ['rdkafka-sys', 'aws-lc-sys'], build: ['cmake'], run: [] },
  { crates: ['prost-build', 'protobuf-codegen'], build: ['protobuf-compiler'], run: [] },
  { crates: ['clang-sys'], build: ['libclang-dev'], run: [] },
]

export interface Found {
  crate: string
  build: string[]
  run: string[]
}

/** By the lock file, which has all crates, and by what the app asks for. */
export function findLibraries(tree: Tree, asked: string[]): Found[] {
  const locked = [...tree.text('Cargo.lock').matchAll(/^name = "([\w-]+)"$/gm)].map(([, name]) => name)
  const crates = new Set([...locked, ...asked])
  return needs.flatMap(({ crates: any, ...need }) => {
    const crate = any.find((name) => crates.has(name))
    return crate ? [{ ...need, crate }] : []
  })
}

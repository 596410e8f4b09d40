// Compose files in the shape of popular self-hosted products, and what each becomes. `expected.txt` has the
// blueprint, then what is not in it, then the file of secrets.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { importCompose } from '../../src/blueprint/compose/compose.ts'
import { printBlueprint } from '../../src/blueprint/print.ts'
import { printSecrets } from '../../src/blueprint/secrets.ts'
import { parseEnvFile } from '../../src/domain/env-file.ts'

const home = fileURLToPath(new URL('../fixtures/compose', import.meta.url))

function importFolder(name: string): string {
  const read = (path: string) => {
    const file = join(home, name, path)
    return existsSync(file) && statSync(file).isFile() ? readFileSync(file, 'utf8') : null
  }
  const readEnvFile = (path: string) => {
    const text = read(path === '.env' ? 'env.txt' : path)
    return text === null ? null : parseEnvFile(text)
  }
  const env = new Map((readEnvFile('.env') ?? []).map(({ key, value }) => [key, value]))
  const files = { env, readEnvFile, readText: read, isFolder: () => null, base: '', folderName: name }
  const { blueprint, remaining, secrets } = importCompose(read('compose.yml')!, files)
  const [, , ...lines] = printBlueprint(blueprint).split('\n')
  const left = remaining.map(({ line, what, reason }) => `${line} ${what}: ${reason}`)
  return `${lines.join('\n')}---\n${left.join('\n')}\n---\n${printSecrets(secrets)}`
}

const products = readdirSync(home).filter((name) => statSync(join(home, name)).isDirectory())

for (const name of products) {
  test(`a Compose file like that of ${name} becomes the expected blueprint`, () => {
    assert.equal(importFolder(name), readFileSync(join(home, name, 'expected.txt'), 'utf8'))
  })
}

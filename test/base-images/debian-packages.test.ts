// Which packages an image is made from: refreshed once a day, and kept while no mirror answers. apt is a
// fake program that prints the content of a file and records its arguments.
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const directory = temporaryDirectory(fileScope())
const file = (name: string) => join(directory, name)
const hourMs = 60 * 60_000

const program = `#!${process.execPath}
const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
const own = args.find((one) => one.startsWith('Dir::State::lists='))?.split('=')[1]
const action = ['update', 'install', 'download'].find((one) => args.includes(one))
appendFileSync(${JSON.stringify(file('asked'))}, action + (own ? ' own' : ' host') + '\\n')
if (action === 'update') {
  if (existsSync(${JSON.stringify(file('offline'))})) process.exit(100)
  writeFileSync(own + '/deb.test_Packages', '')
}
if (action === 'install') {
  const name = 'haproxy_' + readFileSync(${JSON.stringify(file('version'))}, 'utf8') + '_amd64.deb'
  console.log("'http://deb.test/" + name + "' " + name + ' 1 SHA256:0')
}
if (action === 'download') {
  for (const one of args.filter((arg) => arg.startsWith('haproxy=')))
    writeFileSync(one.replace('=', '_') + '_amd64.deb', '')
}
`
mkdirSync(file('bin'))
writeFileSync(file('bin/apt-get'), program)
chmodSync(file('bin/apt-get'), 0o755)
process.env.XDG_CACHE_HOME = file('cache')
process.env.PATH = `${file('bin')}:${process.env.PATH}`
const { choosePackages, fetchPackages } = await import('../../src/base-images/debian-packages.ts')

const wish = { packages: ['haproxy'] }
const packages = file('cache/berth/packages')

function offer(version: string): void {
  writeFileSync(file('version'), version)
}

/** As if it had been made that long ago. */
function age(ms: number): void {
  const at = new Date(Date.now() - ms)
  for (const name of readdirSync(packages).filter((one) => one.startsWith('choice-')))
    utimesSync(join(packages, name), at, at)
}

function requests(): string[] {
  const path = file('asked')
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').filter(Boolean) : []
  writeFileSync(path, '')
  return lines
}

beforeEach(async () => {
  rmSync(file('cache'), { recursive: true, force: true })
  rmSync(file('offline'), { force: true })
  offer('1')
  assert.deepEqual(await choosePackages(wish), ['haproxy_1_amd64.deb'])
  await fetchPackages(['haproxy_1_amd64.deb'])
  assert.deepEqual(requests(), ['update own', 'install own', 'download own'])
})

test('a package selection is reused for a day, and then repeated', async () => {
  offer('2')
  age(23 * hourMs)
  assert.deepEqual([await choosePackages(wish), requests()], [['haproxy_1_amd64.deb'], []])
  age(25 * hourMs)
  assert.deepEqual(await choosePackages(wish), ['haproxy_2_amd64.deb'])
  assert.deepEqual(requests(), ['update own', 'install own'])
})

test('while no mirror responds the previous selection is used, and apt is not retried soon', async () => {
  offer('2')
  age(25 * hourMs)
  writeFileSync(file('offline'), '')
  assert.deepEqual([await choosePackages(wish), requests()], [['haproxy_1_amd64.deb'], ['update own']])
  assert.deepEqual([await choosePackages(wish), requests()], [['haproxy_1_amd64.deb'], []])
  age(25 * hourMs)
  assert.deepEqual([await choosePackages(wish), requests()], [['haproxy_1_amd64.deb'], ['update own']])
})

test('two concurrent callers share one selection', async () => {
  offer('2')
  age(25 * hourMs)
  const both = await Promise.all([choosePackages(wish), choosePackages(wish)])
  assert.deepEqual(both, [['haproxy_2_amd64.deb'], ['haproxy_2_amd64.deb']])
  assert.deepEqual(requests(), ['update own', 'install own'])
})

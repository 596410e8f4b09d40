// Builds the Debian package of the compiled product: npm run package [-- --arch arm64] [--version 1.2.3]
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { version } from '../src/version.ts'
import { buildPackage } from './package/build.ts'
import type { Architecture } from './package/runtime.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { arch: { type: 'string' }, version: { type: 'string' } } })
const arch = values.arch === 'amd64' ? 'x64' : (values.arch as Architecture | undefined)
console.log(await buildPackage({ home, version: values.version ?? version, into: `${home}dist`, arch }))

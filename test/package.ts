// Builds the Debian package of the compiled product, for the architecture of this machine. `npm run package`
import { fileURLToPath } from 'node:url'
import { version } from '../src/version.ts'
import { buildPackage } from './package/build.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
console.log(await buildPackage({ home, version: process.argv[2] ?? version, into: `${home}dist` }))

// Builds the Debian package of the compiled product: npm run package [-- --arch arm64] [--node 20]
// [--version 1.2.3]
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { version } from '../src/version.ts'
import { buildPackage } from './package/build.ts'
import { type Architecture, type NodeMajor, nodeReleases } from './package/runtime.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const text = { type: 'string' } as const
const { values } = parseArgs({ options: { arch: text, node: text, version: text } })
const node = values.node as NodeMajor | undefined
if (node !== undefined && !nodeReleases[node]) throw new Error(`no package can be built with Node ${node}`)
const arch = values.arch === 'amd64' ? 'x64' : (values.arch as Architecture | undefined)
console.log(await buildPackage({ home, version: values.version ?? version, into: `${home}dist`, arch, node }))

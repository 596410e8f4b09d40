// The version of this Berth, from package.json: next to it in the sources, one folder up in the build.
import { existsSync, readFileSync } from 'node:fs'

const here = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url))
const manifest = here.find((path) => existsSync(path))!

export const version: string = JSON.parse(readFileSync(manifest, 'utf8')).version

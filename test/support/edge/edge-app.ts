// The app of the edge's tests as files of a repository, with a version and options.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { baseImages } from '../docker/images.ts'

const program = readFileSync(fileURLToPath(new URL('edge-app/server.js', import.meta.url)), 'utf8')

/** `wishes` are arguments of the program, such as `health=500`. */
export async function edgeApp(version: string, ...wishes: string[]): Promise<Record<string, string>> {
  const { node } = await baseImages()
  const command = ['node', '/app/server.js', version, ...wishes]
  return {
    Dockerfile: `FROM ${node}\nCOPY server.js package.json /app/\nCMD ${JSON.stringify(command)}\n`,
    'package.json': '{ "private": true, "type": "module" }\n',
    'server.js': program,
  }
}

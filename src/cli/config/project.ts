// The project file: `berth.json` in this folder or one above it says which server and service the folder is.
// Mind: it comes with a repository, so it may only choose among the servers a person already knows.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliFailure, usageFailure } from '../failure.ts'
import { readJsonFile } from './json-file.ts'

export interface Project {
  path: string
  server: string | undefined
  service: string | undefined
}

/** The nearest project file, from this folder upwards. */
export function findProject(folder: string = process.cwd()): Project | null {
  const path = join(folder, 'berth.json')
  if (existsSync(path)) return readProject(path)
  return dirname(folder) === folder ? null : findProject(dirname(folder))
}

/** The service that is named, or the project's. Throws (usage) when neither says which. */
export function chosenService(name: string | undefined): string {
  const chosen = name ?? findProject()?.service
  if (chosen) return chosen
  throw usageFailure('which service?', 'name it, or put {"service": "NAME"} into berth.json here')
}

function readProject(path: string): Project {
  const held = readJsonFile(path)
  const isObject = typeof held === 'object' && held !== null && !Array.isArray(held)
  const { server, service } = (isObject ? held : {}) as Record<string, unknown>
  const isText = (value: unknown) => value === undefined || typeof value === 'string'
  if (!isObject || !isText(server) || !isText(service)) {
    throw new CliFailure(`${path} is not as it should be`, {
      hint: 'it looks like {"server": "NAME", "service": "NAME"}',
    })
  }
  return { path, server: server as string | undefined, service: service as string | undefined }
}

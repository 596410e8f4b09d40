// Input piped into a command, mostly secrets: arguments would be visible to every user of the host.
import { createReadStream, fstatSync, openSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { usageFailure } from '../failure.ts'

/** All of stdin, without the newline that `echo` appends. */
export async function readStandardInput(what: string): Promise<string> {
  if (process.stdin.isTTY) {
    throw usageFailure(`${what} is read from standard input, which is a terminal`, `use a pipe: … | berth …`)
  }
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}

/** Reads a text file, or stdin for `-`, unchanged. */
export async function readFileOrInput(path: string): Promise<string> {
  if (path === '-') return text(process.stdin)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw usageFailure(`cannot read ${path}: ${(error as Error).message}`)
  }
}

/** A file as a stream, with its size. */
export function openFile(path: string): { stream: Readable; sizeBytes: number } {
  try {
    const file = openSync(path, 'r')
    return { stream: createReadStream('', { fd: file }), sizeBytes: fstatSync(file).size }
  } catch (error) {
    throw usageFailure(`cannot read ${path}: ${(error as Error).message}`)
  }
}

// How the scripts call the program of a framework: with which folder, and where its pages go.
import { posix } from 'node:path'
import type { App } from './app.ts'
import { listCommands } from './start.ts'

export interface BuildCall {
  command: string
  /** What it builds; empty for the folder of the app. */
  folder: string
  /** Null if the arguments do not say it. */
  output: string | null
}

/** Programs whose first argument after `build` is a folder. */
const withFolder = ['vite', 'vitepress', 'vuepress', 'docusaurus']
const outputFlag = /\s(?:--(?:out-?dir|dist-dir|dest|output-path|output-dir|output)|-d)(?:=|\s+)([\w@./-]+)/i

/** `program` may have arguments, as in Vercel's table: `vitepress build docs`. */
export function findBuildCall({ manifest }: App, program: string): BuildCall | null {
  const [name = ''] = program.replace(/^npx /, '').split(' ')
  const scripts = ['build', 'docs:build'].flatMap((one) => manifest.scripts[one] ?? [])
  for (const script of scripts) {
    let folder = ''
    for (const command of listCommands(manifest, script)) {
      const [first = '', second = ''] = command.split(/\s+/)
      if (first === 'cd') folder = posix.join(folder, second)
      else if (first === name) return readCall(command, folder, withFolder.includes(name))
    }
  }
  return null
}

function readCall(command: string, start: string, takesFolder: boolean): BuildCall {
  const [, argument = ''] = /\sbuild\s+(?!-)([\w@./-]+)/.exec(command) ?? []
  const folder = posix.join(start, takesFolder ? argument : '').replace(/^\.\/?$|\/$/g, '')
  const [, output] = outputFlag.exec(command) ?? []
  // Vite and what uses it take it relative to what they build.
  const base = /^vite\s/.test(command) ? folder : start
  return { command, folder, output: output ? posix.join(base, output) : null }
}

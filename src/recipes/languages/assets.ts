// The assets that an app of another language builds with Node.js, which is copied into its build stage.
import type { Facts } from '../facts.ts'
import { type Choice, copyFrom, run, type Stage, type Step } from '../recipe.ts'
import { type App, readApp } from './node/app.ts'
import { installSteps } from './node/install.ts'
import { findWorkspace } from './node/workspace.ts'

export interface Assets {
  choices: Choice[]
  /** They copy the sources too. */
  install: Step[]
  build: Step[]
}

/** Null if a package.json builds nothing. `isCalled` is true if the app's own tools call its scripts. */
export function chooseAssets(facts: Facts, isCalled = false): Assets | null {
  if (!facts.app.has('package.json')) return null
  const app = readAlone(facts)
  const { manager, manifest } = app
  if (!isCalled && !manifest.scripts.build) return null
  const command = `${manager.program} run build`
  return {
    choices: [
      ...manager.choices,
      ...(isCalled ? [] : [{ what: command, reason: 'the build script in package.json' }]),
    ],
    install: [
      copyFrom('node', ['/usr/local/bin/node'], '/usr/local/bin/'),
      copyFrom('node', ['/usr/local/lib/node_modules'], '/usr/local/lib/node_modules'),
      run('ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm'),
      ...(manager.package ? [run(`npm install --global ${manager.package}`)] : []),
      ...installSteps(app),
    ],
    build: isCalled ? [] : [run(command)],
  }
}

/** The stage from which Node.js is copied. The program runs on any Debian. */
export function nodeStage(facts: Facts): { stage: Stage; choice: Choice } {
  const { tag, reason } = readAlone(facts).node
  return {
    stage: { name: 'node', from: `node:${tag}-slim`, steps: [] },
    choice: { what: `node ${tag}`, reason },
  }
}

/** The context is its own folder, so a workspace around it does not count. */
function readAlone({ app }: Facts): App {
  return readApp(findWorkspace({ top: app, app, rootDir: '' }))
}

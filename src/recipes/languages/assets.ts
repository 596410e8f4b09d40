// What an app of another language has of Node.js: assets that are built, or packages that it uses.
import { type Choice, copyFrom, run, type Stage, type Step } from '../recipe.ts'
import type { Tree } from '../tree.ts'
import { readApp } from './node/app.ts'
import { installSteps } from './node/install.ts'
import { findWorkspace } from './node/workspace.ts'

export interface Assets {
  /** The one from which Node.js is copied. The program runs on any Debian. */
  stages: Stage[]
  choices: Choice[]
  /** They copy the sources too. Null if nothing is installed. */
  install: Step[] | null
  build: Step[]
  clean: Step[]
  /** For the stage that runs. */
  run: Step[]
}

/** Scripts may be called by the app's own tools, and JavaScript run by the app. */
interface Uses {
  isCalled?: boolean
  runsNode?: boolean
  /** Only a program is left of the source. */
  isCompiled?: boolean
}

export function chooseAssets(tree: Tree, { isCalled, runsNode, isCompiled }: Uses = {}): Assets {
  // The context is its own folder, so a workspace around it does not count.
  const app = readApp(findWorkspace({ top: tree, app: tree, rootDir: '' }))
  const { manager, manifest, node } = app
  const isBuilt = isCalled || manifest.scripts.build !== undefined
  const isKept = !isBuilt && !isCompiled && Object.keys(manifest.dependencies).length > 0
  const isInstalled = tree.has('package.json') && (isBuilt || isKept)
  const command = isBuilt && isInstalled && !isCalled ? `${manager.program} run build` : null
  const program = copyFrom('node', ['/usr/local/bin/node'], '/usr/local/bin/')
  const hasNode = isInstalled || runsNode
  return {
    stages: hasNode ? [{ name: 'node', from: `node:${node.tag}-slim`, steps: [] }] : [],
    choices: [
      ...(hasNode ? [{ what: `node ${node.tag}`, reason: node.reason }] : []),
      ...(isInstalled ? manager.choices : []),
      ...(command ? [{ what: command, reason: 'the build script in package.json' }] : []),
      ...(isKept
        ? [{ what: 'node_modules stay', reason: 'package.json has dependencies, and no build' }]
        : []),
    ],
    install: isInstalled
      ? [
          program,
          copyFrom('node', ['/usr/local/lib/node_modules'], '/usr/local/lib/node_modules'),
          run('ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm'),
          ...(manager.package ? [run(`npm install --global ${manager.package}`)] : []),
          ...installSteps(app),
        ]
      : null,
    build: [...(runsNode && !isInstalled ? [program] : []), ...(command ? [run(command)] : [])],
    clean: isInstalled && !isKept ? [run('rm -rf node_modules')] : [],
    run: isKept || runsNode ? [program] : [],
  }
}

// The command that builds an app, in a workspace after the packages that it needs.
import { quote } from '../../../domain/shell-word.ts'
import type { Reasoned, Wishes } from '../../recipe.ts'
import type { App } from './app.ts'
import type { Framework } from './frameworks.ts'
import { hasPackage } from './manifest.ts'
import type { PackageManager } from './package-manager.ts'
import { listNeeded } from './workspace.ts'

/** Commands run at the top of the workspace. */
export function chooseBuild(app: App, framework: Framework | null, wishes: Wishes): Reasoned | null {
  const { folder, manager, manifest } = app
  const go = folder === '' ? '' : `cd ${quote(folder)} && `
  if (wishes.build) return { ...wishes.build, command: `${go}${wishes.build.command}` }
  const tool = folder === '' ? null : findTool(app)
  // Heroku runs the first of these instead of the build script, at the top only.
  const names = [...(folder === '' ? ['heroku-postbuild'] : []), 'build', 'docs:build']
  const script = names.find((name) => manifest.scripts[name])
  if (tool && (script || tool.infers)) return { command: tool.command, reason: tool.reason }
  if (script) return { command: runScripts(app, script), reason: `the ${script} script in package.json` }
  return (
    framework && {
      command: `${go}${execute(manager)} ${framework.build}`,
      reason: `${framework.name} is a dependency`,
    }
  )
}

/** The program that runs the program of a package. */
export function execute({ name }: PackageManager): string {
  return name === 'bun' ? 'bunx' : 'npx'
}

/** Tools that build what a package needs before it. */
function findTool({ workspace: { tree, manifest }, manager, folder, ...app }: App) {
  const program = execute(manager)
  if (tree.has('turbo.json') && hasPackage(manifest, 'turbo')) {
    const command = `${program} turbo run build --filter=${quote(`./${folder}`)}`
    return { command, reason: 'turbo.json', infers: false }
  }
  if (tree.has('nx.json') && hasPackage(manifest, 'nx')) {
    const target = quote(`${app.manifest.name ?? folder}:build`)
    return { command: `NX_DAEMON=false ${program} nx run ${target}`, reason: 'nx.json', infers: true }
  }
  return null
}

function runScripts({ workspace, folder, manager }: App, script: string): string {
  if (folder === '') return `${manager.program} run ${script}`
  const members = listNeeded(workspace, folder).filter(
    (member) => workspace.members.get(member)?.scripts[script],
  )
  return members.map((member) => runIn(manager, quote(member), script)).join(' && ')
}

function runIn({ program }: PackageManager, folder: string, script: string): string {
  switch (program) {
    case 'npm':
      return `npm run ${script} --workspace=${folder}`
    case 'pnpm':
      return `pnpm --dir ${folder} run ${script}`
    case 'yarn':
      return `yarn --cwd ${folder} run ${script}`
    case 'bun':
      return `bun run --cwd ${folder} ${script}`
  }
}

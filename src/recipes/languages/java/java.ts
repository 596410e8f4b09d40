// Java and its relatives: what Maven or Gradle build.
import { posix } from 'node:path'
import { listens } from '../../../domain/service-types.ts'
import type { Facts } from '../../facts.ts'
import {
  appUser,
  copy,
  copyFrom,
  type Draft,
  env,
  type Reasoned,
  type Refusal,
  refuse,
  run,
  type Step,
  start,
  toChoice,
  user,
  type Wishes,
  workdir,
} from '../../recipe.ts'
import type { Tree } from '../../tree.ts'
import type { Language } from '../language.ts'
import { findWorkspace } from '../workspace.ts'
import { findTool, gradleManifests, type Module, type Tool } from './tools.ts'
import { javaVersion } from './version.ts'

const starts = {
  spring: { command: 'java -Dserver.port=$PORT -jar app.jar', reason: 'Spring Boot' },
  quarkus: { command: 'java -Dquarkus.http.port=$PORT -jar quarkus-run.jar', reason: 'Quarkus' },
  distribution: { command: '/app/bin/app', reason: 'the script of the application plugin' },
  jar: { command: 'java -jar app.jar', reason: 'the jar with a main class' },
}

export const java: Language = {
  evidence: ['pom.xml', 'build.gradle', 'build.gradle.kts'],
  isHere: (app) => app.first('pom.xml', ...gradleManifests) !== null,
  draft,
}

function draft(facts: Facts, wishes: Wishes): Draft | Refusal {
  const { tree, context, folder } = findWorkspace(facts, hasModules)
  const version = javaVersion(tree)
  const tool = findTool(tree, version.java)
  if (tool === null) return refuse('its pom.xml or build.gradle is in another folder')
  const modules = tool.findModules().filter((one) => folder === '' || one.folder === folder)
  const [module = null] = modules.length === 1 ? modules : []
  if (module === null && wishes.start === null) return refuseModules(tool, modules, context)
  const build = wishes.build ?? { command: tool.command(module), reason: tool.manifest }
  const runs: Reasoned = wishes.start ?? starts[module?.kind ?? 'jar']
  return {
    title: module?.name ? `Java with ${module.name}` : 'Java',
    context,
    choices: [
      { what: `java ${version.java}`, reason: version.reason },
      ...(module ? [{ what: `the module ${module.folder || 'at the top'}`, reason: module.reason }] : []),
      ...[build, runs].flatMap(toChoice),
    ],
    stages: [
      {
        name: 'build',
        from: tool.image ?? `eclipse-temurin:${version.java}-jdk`,
        steps: [
          workdir('/app'),
          ...(tool.env ? [env(tool.env)] : []),
          copy(['.'], '.'),
          run(build.command, { caches: [tool.cache], secrets: wishes.build ? wishes.env : [] }),
          ...(wishes.start ? [] : collect(module as Module, tool)),
        ],
      },
      {
        name: 'app',
        from: `eclipse-temurin:${version.java}-jre`,
        steps: [
          // A start command has its own idea of where things are.
          copyFrom('build', [wishes.start ? '/app' : '/out'], '/app', appUser),
          workdir('/app'),
          env({ HOME: '/app', JAVA_TOOL_OPTIONS: '-XX:MaxRAMPercentage=75' }),
          user,
          start(runs.command),
        ],
      },
    ],
    ignore: ['target', 'build', '.gradle'],
    port: listens(wishes) ? 8080 : null,
  }
}

function hasModules(tree: Tree): boolean {
  return (
    /<modules>/.test(tree.text('pom.xml')) || tree.first('settings.gradle', 'settings.gradle.kts') !== null
  )
}

/** What runs goes to /out. Of several jars, the largest has the packages in it. */
function collect({ folder, kind }: Module, tool: Tool): Step[] {
  const output = posix.join('/app', folder, tool.output)
  const jars = posix.join(output, tool.manifest === 'pom.xml' ? '*.jar' : 'libs/*.jar')
  const jar = `$(ls -S ${jars} | grep -vE '(-plain|-sources|-javadoc)\\.jar$|/original-' | head -n 1)`
  const lib = posix.join(output, 'lib')
  switch (kind) {
    case 'quarkus':
      return [run(`cp -r ${output}/quarkus-app /out`)]
    case 'distribution':
      return [run(`cp -r ${output}/install/* /out && rm -f /out/bin/*.bat && mv /out/bin/* /out/bin/app`)]
    default:
      return [run(`mkdir /out && cp "${jar}" /out/app.jar && if [ -d ${lib} ]; then cp -r ${lib} /out/; fi`)]
  }
}

function refuseModules(tool: Tool, modules: Module[], context: string): Refusal {
  const folders = modules.map(({ folder }) => posix.join(context, folder))
  if (modules.length > 1)
    return refuse('several of its modules can run: root_dir must name one', { apps: folders })
  return refuse(`${tool.manifest} is there, but no module has Spring Boot, Quarkus or a main class`, {
    lookedFor: ['spring-boot-maven-plugin', 'mainClass', 'application'],
  })
}

// Maven and Gradle: which of their modules makes something that runs, and how.
import { posix } from 'node:path'
import type { Tree } from '../../tree.ts'

export interface Module extends Kind {
  /** Empty for the top. */
  folder: string
}

interface Kind {
  shows: RegExp
  kind: 'jar' | 'spring' | 'quarkus' | 'distribution'
  /** Of a framework. */
  name?: string
  reason: string
  /** Of Gradle. */
  task: string
}

export interface Tool {
  manifest: string
  image: string | null
  cache: string
  env: Record<string, string> | null
  /** The folder of a module with what was built. */
  output: string
  /** Null builds all modules. */
  command(module: Module | null): string
  findModules(): Module[]
}

/** Null without a manifest of one of them. */
export function findTool(tree: Tree, java: number): Tool | null {
  if (tree.has('pom.xml')) return maven(tree, java)
  const manifest = tree.first(...gradleManifests)
  return manifest ? gradle(tree, java, manifest) : null
}

export const gradleManifests = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts']

/** In order, for both tools. A part of a longer name must not do. */
const kinds: Kind[] = [
  {
    shows: /<artifactId>\s*quarkus-maven-plugin|["']io\.quarkus["']/,
    kind: 'quarkus',
    name: 'Quarkus',
    reason: 'its build has Quarkus',
    task: 'quarkusBuild',
  },
  {
    shows:
      /<artifactId>\s*spring-boot-maven-plugin|["']org\.springframework\.boot["']|plugins\.spring\.?boot\b/i,
    kind: 'spring',
    name: 'Spring Boot',
    reason: 'its build has Spring Boot',
    task: 'bootJar',
  },
  {
    shows: /\.shadow["']|<artifactId>\s*maven-shade-plugin/,
    kind: 'jar',
    reason: 'its build makes a jar with all packages',
    task: 'shadowJar',
  },
  {
    shows: /^\s*application\s*(\{|$)|["'](application|io\.ktor\.plugin)["']|plugins\.ktor\b/m,
    kind: 'distribution',
    reason: 'its build has the application plugin',
    task: 'installDist',
  },
  { shows: /<(mainClass|Main-Class)>/, kind: 'jar', reason: 'its build names a main class', task: 'jar' },
]

function maven(tree: Tree, java: number): Tool {
  const hasWrapper = tree.has('mvnw') && tree.has('.mvn/wrapper/maven-wrapper.properties')
  const program = hasWrapper ? 'sh mvnw' : 'mvn'
  return {
    manifest: 'pom.xml',
    image: hasWrapper ? null : `maven:3-eclipse-temurin-${java}`,
    cache: '/root/.m2',
    env: null,
    output: 'target',
    command: (module) => {
      const only = module?.folder ? ` --projects ${module.folder} --also-make` : ''
      return `${program} --batch-mode -DskipTests${only} package`
    },
    findModules: () =>
      findModules(tree, /(^|\/)pom\.xml$/, (text) =>
        /<packaging>\s*pom\s*</.test(text) ? '' : text.replace(/<!--[\s\S]*?(?:-->|$)/g, ''),
      ),
  }
}

function gradle(tree: Tree, java: number, manifest: string): Tool {
  const hasWrapper = tree.has('gradlew') && tree.has('gradle/wrapper/gradle-wrapper.jar')
  const program = hasWrapper ? 'sh gradlew' : 'gradle'
  return {
    manifest,
    image: hasWrapper ? null : `gradle:${java < 25 ? 8 : 9}-jdk${java}`,
    cache: '/root/.gradle',
    env: { GRADLE_USER_HOME: '/root/.gradle' },
    output: 'build',
    command: (module) => {
      const path = module?.folder ? `:${module.folder.replaceAll('/', ':')}:` : ''
      return `${program} --no-daemon ${path}${module?.task ?? 'assemble'}`
    },
    // A plugin that is not applied is only given its version.
    findModules: () =>
      findModules(tree, /(^|\/)build\.gradle(\.kts)?$/, (text) =>
        text.replace(/^.*\bapply[ (]+false.*$|^\s*\/\/.*$|\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))/gm, ''),
      ),
  }
}

function findModules(tree: Tree, manifest: RegExp, clean: (text: string) => string): Module[] {
  return tree.find(manifest).flatMap((path) => {
    const text = clean(tree.text(path))
    const kind = kinds.find(({ shows }) => shows.test(text))
    const folder = posix.dirname(path)
    return kind ? [{ ...kind, folder: folder === '.' ? '' : folder }] : []
  })
}

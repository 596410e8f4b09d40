// The version of Java that a source asks for.
import type { Tree } from '../../tree.ts'
import { readVersionFiles } from '../../versions.ts'

/** Those with long support have images for building and for running. */
const supported = [8, 11, 17, 21, 25]
const usual = 21

const inMaven = /<(?:java\.version|maven\.compiler\.(?:release|target|source)|release)>\s*([\d.]+)\s*</
const inGradle = new RegExp(
  [
    /(?:JavaLanguageVersion\.of|jvmToolchain)\(\s*["']?(\d+)/,
    /VERSION_([\d_]+)/,
    /(?:source|target)Compatibility\s*=\s*["']?([\d.]+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** `java` is the least supported version that is not older than what is asked for. */
export function javaVersion(tree: Tree): { java: number; reason: string } {
  const manifests = tree.find(/(^|\/)(pom\.xml|build\.gradle(\.kts)?)$/).map((file) => {
    const text = tree.text(file)
    const found = inMaven.exec(text) ?? inGradle.exec(text) ?? []
    return { text: found.slice(1).find(Boolean)?.replace('_', '.'), file }
  })
  const [, property] = /^java\.runtime\.version\s*=\s*(\S+)/m.exec(tree.text('system.properties')) ?? []
  const [, sdkman] = /^java\s*=\s*(\S+)/m.exec(tree.text('.sdkmanrc')) ?? []
  const wishes = [
    ...readVersionFiles(tree, ['.java-version'], 'java'),
    ...[{ text: property, file: 'system.properties' }, { text: sdkman, file: '.sdkmanrc' }, ...manifests].map(
      ({ text, file }) => ({ text, reason: `${text} in ${file}` }),
    ),
  ]
  for (const { text = '', reason } of wishes) {
    const asked = Number(/(?:\b1\.)?(\d+)/.exec(text)?.[1] ?? Number.NaN)
    const java = supported.find((version) => version >= asked)
    if (java) return { java, reason }
  }
  return forWrapper(tree) ?? { java: usual, reason: 'the usual version, because the source asks for none' }
}

/** Gradle runs on no Java that is much newer than itself. */
function forWrapper(tree: Tree): { java: number; reason: string } | null {
  const text = tree.text('gradle/wrapper/gradle-wrapper.properties')
  const [, major, minor] = /gradle-(\d+)\.(\d+)/.exec(text) ?? []
  const gradle = Number(major) * 100 + Number(minor)
  const java = gradle < 703 ? 11 : gradle < 805 ? 17 : usual
  return major ? { java, reason: `Gradle ${major}.${minor} runs on it` } : null
}

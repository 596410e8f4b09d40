// Explains why a file that a Dockerfile copies is not in the build context: builders only say that it is not.
import { join, normalize, relative } from 'node:path'
import { parseIgnore, readIgnoreFile } from '../../../docker/dockerfile/ignore-rules.ts'
import { Failure } from '../../../errors.ts'
import { isInside } from '../source/source.ts'

export interface BuildSource {
  contextDir: string
  /** Relative to `contextDir`. */
  dockerfile: string
  sourceDir: string
  isUpload: boolean
}

/** The failure with the reason added; any other error as it is. */
export async function explainMissingFile(error: unknown, source: BuildSource): Promise<unknown> {
  if (!(error instanceof Failure) || error.facts?.missing_from !== undefined) return error
  const missing = error.facts?.missing_path
  if (typeof missing !== 'string') return error
  // A frontend named by `# syntax=` writes any path.
  const { reason, facts } = await findReason(normalize(`/${missing}`).slice(1), source)
  return new Failure('build_failed', `${error.message}: ${reason}`).with({ ...error.facts, ...facts })
}

async function findReason(path: string, source: BuildSource) {
  const { contextDir, sourceDir, dockerfile, isUpload } = source
  const folder = relative(sourceDir, contextDir)
  if (await isInside(sourceDir, join(folder, path))) {
    const own = `${dockerfile}.dockerignore`
    const file = (await isInside(sourceDir, join(folder, own))) ? own : '.dockerignore'
    return { reason: `it is in the source, but ${file} leaves it out` }
  }
  if (folder !== '' && (await isInside(sourceDir, path))) {
    const moved = join(folder, dockerfile)
    return {
      reason: `it is in the source, but the build sees only ${folder} (root_dir)`,
      facts: { reason: 'outside_root', dockerfile: moved },
    }
  }
  const ignored = await findGitIgnored(path, source)
  if (ignored === null) return { reason: 'it is not in the source' }
  return {
    reason: isUpload
      ? `.gitignore leaves it out of uploads; to send it, write !${ignored} into .berthignore`
      : '.gitignore leaves it out of the repository; a step of the Dockerfile must make it',
  }
}

/** The path or its first folder that a .gitignore above it leaves out, relative to the source. */
async function findGitIgnored(path: string, { contextDir, sourceDir }: BuildSource): Promise<string | null> {
  const names = join(relative(sourceDir, contextDir), path).split('/')
  for (const depth of names.keys()) {
    const file = await readIgnoreFile(sourceDir, join(...names.slice(0, depth), '.gitignore')).catch(
      () => null,
    )
    const rules = file && toRules(file.text)
    if (!(await rules?.ignores(names.slice(depth).join('/')))) continue
    for (let end = depth + 1; end < names.length; end++)
      if (await rules?.ignores(names.slice(depth, end).join('/'))) return names.slice(0, end).join('/')
    return names.join('/')
  }
  return null
}

/** Patterns of git match in any folder unless they have a slash before their end. Null for unusual ones. */
function toRules(text: string) {
  const lines = text.split(/\r?\n/).map((line) => line.trim().replace(/^(!?)([^/#]+\/?)$/, '$1**/$2'))
  try {
    return parseIgnore(lines.join('\n'), '.gitignore')
  } catch {
    return null
  }
}

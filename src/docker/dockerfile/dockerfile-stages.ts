// Checks that a Dockerfile has the stage requested for a build, and lists the existing stages if
// it does not.
import { Failure } from '../../errors.ts'
import { stagesOf } from './dockerfile.ts'

/** Throws `build_failed` with the stages that exist. As in Docker, case does not matter. */
export function assertStageExists(text: string, target: string): void {
  const names = stagesOf(text)
  if (names.some((name) => name.toLowerCase() === target.toLowerCase())) return
  const stageList =
    names.length > 0 ? `its stages are ${names.join(', ')}` : 'its stages have no names (FROM image AS name)'
  throw new Failure('build_failed', `the Dockerfile has no stage '${target}' (--build-target): ${stageList}`)
}

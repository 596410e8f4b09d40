// Adds to the failure of an instance that its user may not use its disk.
import { idsText, type UserIds } from '../../docker/containers/image-user.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import { Failure } from '../../errors.ts'

/** The failures that a denied path may cause. */
const codes = ['exited_early', 'health_check_failed', 'instance_failed']

/** The same failure if its disk is not the cause, or the engine does not tell. */
export async function explainDenial(
  instances: Pick<Instances, 'findDeniedPath'>,
  name: string,
  failure: unknown,
): Promise<unknown> {
  if (!(failure instanceof Failure && codes.includes(failure.code))) return failure
  const denied = await instances.findDeniedPath(name).catch(() => null)
  if (denied === null) return failure
  const { path, disk, owner, user } = denied
  const cause = `${path} of its disk belongs to ${describe(owner)}, and the image runs as ${describe(user)}`
  const facts = { reason: 'disk_owner', path, disk, owner: idsText(owner), user: idsText(user) }
  return new Failure(failure.code, `${failure.message}: ${cause}`).with(facts)
}

function describe(ids: UserIds): string {
  return ids.uid === 0 ? `root (${idsText(ids)})` : idsText(ids)
}

// What the user should know of a version that works: the reason, and the command that changes it.
import type { Deploy } from '../../api/deploy.ts'
import { quote } from '../../domain/shell-word.ts'
import { type Output, plain } from '../terminal/output.ts'

/** Three lines for each warning. Empty for a deploy of an older version. */
export function warningLines(
  paint: Output['paint'],
  service: string,
  { warnings }: Pick<Deploy, 'warnings'>,
): string[] {
  const cost = paint('dim', '   # one instance, short gaps at deploys')
  return (warnings ?? [])
    .map(({ path }) => plain(path))
    .flatMap((path) => [
      ` ${paint('yellow', '!')} the image keeps data in ${path} (VOLUME), without a disk there:`,
      "   each new instance begins with the image's data, and the old data goes to the trash",
      `   berth update ${plain(service)} --disk ${quote(path)}${cost}`,
    ])
}

// `berth doctor`: what keeps the server from working, and the commands that fix it.
import type { Doctor } from '../../../api/doctor.ts'
import { reportLines } from '../../../doctor/report.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { exitCodes } from '../../failure.ts'
import { plain } from '../../terminal/output.ts'

export function addDoctorCommands(program: BerthCommand): void {
  program
    .command('doctor')
    .description(
      'find what keeps the server from working; the exit code is 1 with problems, and 0 ' +
        'if all is good or there are only warnings. While the server is stopped: berthd doctor, on its host',
    )
    .option('--all', 'also what is good, one by one')
    .examples('berth doctor', 'berth doctor --all', 'berth doctor --json')
    .runs(examine)
}

async function examine({ client, out }: Cli, { all = false }: { all?: boolean }): Promise<number> {
  const report = await client.call<Doctor>('GET', '/doctor')
  const { findings } = report
  if (out.isJson) out.json(report)
  else {
    const paint = (style: Parameters<typeof out.paint>[0], text: string) => out.paint(style, text)
    const texts = findings.map(({ severity, ...finding }) => ({
      severity,
      code: plain(finding.code),
      found: plain(finding.found),
      why: finding.why === null ? null : plain(finding.why),
      fix: finding.fix === null ? null : plain(finding.fix),
    }))
    for (const line of reportLines(texts, { paint, columns: out.width(), isWhole: all })) out.print(line)
  }
  return findings.some(({ severity }) => severity === 'problem') ? exitCodes.failed : exitCodes.ok
}

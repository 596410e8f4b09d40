// Manual pages from what the programs say of themselves.
import { options } from '../../src/config/options.ts'
import { helpOf, visibleCommands } from '../support/http/reference.ts'

export function berthPage(version: string): string {
  const [program, ...commands] = visibleCommands()
  if (!program) throw new Error('berth has no commands')
  return [
    title('BERTH', 1, version),
    '.SH NAME\nberth \\- deploy apps to a server of your own',
    '.SH SYNOPSIS\n.B berth\n.I command\n.RI [ options ]',
    `.SH DESCRIPTION\n${verbatim(helpOf(program))}`,
    '.SH COMMANDS',
    ...commands.map((command) => `.SS "${escaped(nameOf(command))}"\n${verbatim(helpOf(command))}`),
    '.SH SEE ALSO\n.BR berthd (8)',
  ].join('\n')
}

export function berthdPage(version: string): string {
  const list = Object.entries(options).map(
    ([name, { help }]) => `.TP\n.B ${escaped(`--${name}`)}\n${escaped(help)}`,
  )
  return [
    title('BERTHD', 8, version),
    '.SH NAME\nberthd \\- self-hosted deployment server',
    '.SH SYNOPSIS\n.B berthd\n.RI [ options ]',
    '.SH DESCRIPTION\nAs a service, it is set up by /etc/berth/berth.env. A variable sets each option:',
    '.B \\-\\-base\\-domain\nis BERTH_BASE_DOMAIN. A flag takes precedence.',
    `.SH OPTIONS\n${list.join('\n')}`,
    '.SH FILES\n.TP\n.I /var/lib/berth\nThe data of the service.\n.TP\n.I /etc/berth/berth.env\nSettings.',
    '.SH SEE ALSO\n.BR berth (1)\n',
  ].join('\n')
}

function title(name: string, section: number, version: string): string {
  return `.TH ${name} ${section} "" "Berth ${version}"`
}

function nameOf(command: { name(): string; parent: unknown }): string {
  const parent = command.parent as Parameters<typeof nameOf>[0] | null
  return parent ? `${nameOf(parent)} ${command.name()}` : command.name()
}

function verbatim(text: string): string {
  return `.nf\n${text.trimEnd().split('\n').map(escaped).join('\n')}\n.fi`
}

/** A line that begins with a point or an apostrophe would be a request. */
function escaped(line: string): string {
  return line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&')
}

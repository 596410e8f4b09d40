// The parts of an SQL file that are not SQL: the comments by which pg_dump marks its beginning and end, and
// the commands of psql.

import { Failure } from '../../errors.ts'

const textLimit = 200

/** A line of text, cut to its beginning. */
class Line {
  private text = ''

  add(byte: number): void {
    if (this.text.length < textLimit) this.text += String.fromCharCode(byte)
  }

  /** Returns the finished line and starts the next. */
  take(): string {
    const text = this.text.trim()
    this.text = ''
    return text
  }
}

/** A file may hold several dumps; each one that starts must end. */
export class DumpMarks {
  readonly comment = new Line()
  private started = 0
  private ended = 0

  get isCut(): boolean {
    return this.started > this.ended
  }

  /** Called at the end of a comment. */
  note(): void {
    const comment = this.comment.take()
    if (comment === 'PostgreSQL database cluster dump') {
      throw new Error('pg_dumpall wrote it, with all databases: use pg_dump of one database')
    }
    if (comment === 'PostgreSQL database dump') this.started++
    if (comment === 'PostgreSQL database dump complete') this.ended++
  }
}

/**
 * Newer versions of pg_dump write these two. They are left out, because psql's restricted mode uses a key
 * of Berth.
 */
export class PsqlCommand {
  readonly line = new Line()

  /** Called at the end of a command. */
  requireAllowed(): void {
    const command = this.line.take()
    if (/^\\(un)?restrict \w+$/.test(command)) return
    const name = /^\\(\w+|.)/.exec(command)?.[0]
    if (name === '\\connect' || name === '\\c')
      throw new Error(`${name} connects to another database: use pg_dump of one database, without --create`)
    throw new Error(`the psql command ${name} is not allowed`)
  }
}

export function unsupported(message: string): Failure {
  return new Failure('unsupported_dump', message)
}

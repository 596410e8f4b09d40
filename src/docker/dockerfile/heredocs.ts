// Heredocs in a Dockerfile. An engine before 23 knows them only by a newer frontend, and calls their lines
// unknown instructions.
import { codeOf, Failure, messageOf } from '../../errors.ts'

const heredoc = /^[ \t]*(RUN|COPY|ADD)\b.*<<-?["']?[A-Za-z_]/im
const syntax = /^#[ \t]*syntax[ \t]*=/im

/** The same failure, with what helps where a heredoc is the cause. */
export function withHeredocAdvice(error: unknown, dockerfile: string): unknown {
  if (codeOf(error) !== 'build_failed' || !/unknown instruction/i.test(messageOf(error))) return error
  if (!heredoc.test(dockerfile) || syntax.test(dockerfile)) return error
  const advice =
    "this engine knows heredocs (<<EOF) only with '# syntax=docker/dockerfile:1' as the first line " +
    'of the Dockerfile, and with BuildKit'
  return new Failure('build_failed', `${messageOf(error)}; ${advice}`)
}

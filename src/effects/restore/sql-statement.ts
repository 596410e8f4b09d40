// Decides about one statement of an SQL file: keep, leave out, or refuse. Pure. It checks the words outside
// quotes, comments and parentheses. A DO block can do the same things as the superuser of the database, but
// the user has that password anyway.

/** `copy`: the lines after it are data. */
export type Verdict = 'keep' | 'drop' | 'copy'

/** Statements beginning so are held until they are complete, because they may be left out. */
const firstWords = new Set([
  'abort',
  'alter',
  'begin',
  'commit',
  'copy',
  'create',
  'drop',
  'end',
  'grant',
  'prepare',
  'reassign',
  'reset',
  'revoke',
  'rollback',
  'set',
  'start',
])

// Owners and grants name roles that need not exist here. A restore of an archive leaves them out too.
// The whole file is one transaction, so its own bounds mean nothing. pg_dump 17 sets `transaction_timeout`
// to 0, which is the default and unknown to older servers.
const dropped = [
  /^(grant|revoke) /,
  /^alter default privileges /,
  /^alter .* owner to \S+$/,
  /^(set|reset) session authorization\b/,
  /^begin( work| transaction)?$/,
  /^start transaction$/,
  /^(commit|end)( work| transaction)?$/,
  /^set transaction_timeout ?= ?0$/,
]

const refused: [RegExp, string][] = [
  [
    /^(create|drop|alter) database /,
    'it creates or changes a database: use a dump of one database, without --create',
  ],
  [
    /^((create|drop|alter) (role|user|group|tablespace)|reassign owned|drop owned) /,
    'it changes the roles or tablespaces of the server: use a dump of one database (pg_dump, not pg_dumpall)',
  ],
  [/^alter system /, 'it changes the settings of the server'],
  [
    /^(rollback|abort|prepare transaction|begin|start transaction|commit|end)\b/,
    'it would end the one transaction in which the file is restored',
  ],
  [/^(copy binary|copy .* from stdin( with)? binary)/, 'binary COPY data cannot be part of an SQL file'],
  [
    /^set .*standard_conforming_strings ?(=|to)(?! ?'?(on|true|1)'?$)/,
    'standard_conforming_strings has to stay on',
  ],
  [
    /^set .*(client_encoding ?(=|to)|names) ?'?(big5|gb18030|gbk|johab|sjis|shift|uhc|mskanji|win9|windows9)/,
    'this client encoding is not supported: use pg_dump --encoding=UTF8',
  ],
]

export function mayBeDropped(firstWord: string): boolean {
  return firstWords.has(firstWord)
}

/** `words` is normalized: lower case, one space, empty quotes and parentheses (quotes are full after SET). */
export function verdictOf(text: string): Verdict {
  if (dropped.some((pattern) => pattern.test(text))) return 'drop'
  const refusal = refused.find(([pattern]) => pattern.test(text))
  if (refusal) throw new Error(refusal[1])
  return /^copy [^ ():]+ ?(\(\) ?)?from stdin\b/.test(text) ? 'copy' : 'keep'
}

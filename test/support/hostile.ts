// The one corpus of texts that have hurt programs like this one: each is tried in every field there is.
// Mind: a finding is mended by adding its text here, so that no sibling of the field stays open.

/** What a text does when somebody runs it: makes a file in `directory`, or calls `port` on this host. */
export interface Bait {
  directory: string
  port: number
}

const commands = [
  ...['; TOUCH', ';TOUCH;', '& TOUCH', '&& TOUCH', '| TOUCH', '|| TOUCH', 'x & TOUCH & x'],
  ...['\nTOUCH\n', '\r\nTOUCH\r\n', '\rTOUCH', 'x\0; TOUCH', '\u0085TOUCH', '\u2028TOUCH'],
  ...['$(TOUCH)', '`TOUCH`', '"$(TOUCH)"', "'; TOUCH; '", '"; TOUCH; "', '\\"; TOUCH; \\"', "\\'; TOUCH #"],
  ...['<(TOUCH)', '(TOUCH)', '{ TOUCH; }', '() { :;}; TOUCH', 'a[$(TOUCH)]', '$((TOUCH))', '!TOUCH'],
  ...['$(touch${IFS}FILE)', ';touch$IFS$9FILE', '{touch,FILE}', '`touch\tFILE`', '| tee FILE', 'eval TOUCH'],
  ...['> FILE', '>> FILE', '< /etc/passwd', '2>FILE', '|tee${IFS}FILE', 'main;touch${IFS}FILE', '$(>FILE)'],
  ...['$(curl http://127.0.0.1:PORT/)', '; exec 3<>/dev/tcp/127.0.0.1/PORT', '|nc 127.0.0.1 PORT'],
  ...['*', '?', '[a-z]*', '{a,b}', '~', '~root', '!!', '#', '$HOME', '${PATH}', '$$', '%PATH%', '^M'],
  ...['\\', "'", '"', '`', "''", '""', '\\\\', "it's", 'a"b', 'a b', ' a', 'a ', '\ta', 'a\n', '\n', '\r\n'],
]

const options = [
  ...['-', '--', '-f', '-h', '--help', '-c', '-e TOUCH', '-oProxyCommand=TOUCH', '--upload-pack=TOUCH'],
  ...[
    '--exec=TOUCH',
    '--config=core.sshCommand=TOUCH',
    '-ucore.fsmonitor=TOUCH',
    '--output=FILE',
    '-v/:/host',
  ],
  ...[
    '--privileged',
    '--template=/tmp',
    '--privileged=true --pid=host',
    '@/etc/passwd',
    '+x',
    '/?',
    '--version',
  ],
]

const addresses = [
  ...['ext::sh -c TOUCH', 'ext::sh% -c% touch% FILE', 'ext::touch% FILE', 'fd::17/foo', 'http::http://x/y'],
  ...['file:///etc/passwd', 'File:///etc', 'file://localhost/etc', 'git://127.0.0.1:PORT/x', 'ftp://a/b'],
  ...['javascript:alert(1)', 'data:text/plain,x', 'ssh://-oProxyCommand=TOUCH/x', 'ssh://-x@host.invalid/y'],
  ...['-oProxyCommand=TOUCH@host.invalid:x', 'git@-oProxyCommand=touch$IFSFILE:x', 'a@host.invalid:-x'],
  ...[
    'ssh://a@$(touch${IFS}FILE).invalid/x',
    'git@host.invalid:$(touch${IFS}FILE)',
    '/srv/$(touch${IFS}FILE)',
  ],
  ...[
    'https://user:pa%0Ass@host.invalid/x',
    'https://a\r\nX: y@host.invalid/x',
    'https://host.invalid\\@b/x',
  ],
  ...['http://127.0.0.1:9/`touch${IFS}FILE`', "http://127.0.0.1:9/a';touch${IFS}FILE;'", 'http://[::1]/x'],
  ...['http://0x7f.1/x', 'http://127.0.0.1:99999/x', '//127.0.0.1:PORT/x', 'http:\\\\127.0.0.1:PORT\\x'],
  ...['HEAD', 'refs/heads/main', 'main:refs/heads/x', '+main', '^main', 'main~1', '@{-1}', ':/x', 'a..b'],
  ...[
    'localhost:5000/../x',
    'x@sha256:0',
    'UPPER/case',
    'a:b:c',
    'docker.io/library/../x',
    'x:-tag',
    'scratch',
  ],
]

const paths = [
  ...[
    '..',
    '../',
    '../../../../etc/passwd',
    '/etc/passwd',
    '/proc/self/environ',
    '/dev/null',
    '.',
    './',
    '/',
    '//',
  ],
  ...[
    'a/../../b',
    '/../',
    '....//....//etc',
    '..\\..\\windows',
    'C:\\x',
    '\\\\host\\share',
    'a//b',
    'a/./b',
    '.git',
  ],
  ...[
    '.git/config',
    'a/.git/hooks/post-checkout',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e/%2e%2e',
    '%252e%252e%252f',
  ],
  ...[
    '/var/run/docker.sock',
    '/var/run/docker.sock:/x',
    '/:/host',
    'C:/x',
    'con',
    'a\0b',
    '/data:ro',
    '/a,ro=false',
  ],
]

const names = [
  ...[
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'BASH_ENV',
    'ENV',
    'IFS',
    'GIT_SSH_COMMAND',
    'GIT_EXEC_PATH',
    'NODE_OPTIONS',
  ],
  ...['DOCKER_HOST', 'BASH_FUNC_x%%', 'A=B', 'A B', '1A', 'A-B', 'A.B', '', ' ', 'a=b=c', '=', 'PATH=/tmp'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    'true',
    '0',
    '-1',
    '1e9',
  ],
  ...[
    'svc-01hzy7k9m0000000000000test',
    'dep-01hzy7k9m0000000000000test',
    'My App',
    'UPPER',
    'localhost',
    'new',
  ],
]

const templates = [
  ...[
    '${{service.x.host}}',
    '${{',
    '${{datastore.a.password}}',
    '{{7*7}}',
    '${7*7}',
    '<%= 7 %>',
    '#{7}',
    '%s%n%x',
  ],
  ...[
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' OR 1=1 --",
    '{"a":1}',
    '[1]',
    '%00',
    '%0d%0a',
  ],
  ...[
    '%',
    '%zz',
    '%u0041',
    '&amp;',
    'a&b=c',
    '?x=1',
    '#x',
    'a;b',
    'x'.repeat(129),
    'y'.repeat(600),
    'z'.repeat(5000),
  ],
]

const characters = [
  ...[
    '\u202egnp.exe',
    'a\u200bb',
    '\u200b',
    '\ufeffa',
    '\u2066a\u2069',
    '\u0430dmin',
    'ｗｅｂ',
    '．．／',
    '／etc／passwd',
  ],
  ...[
    'ﬁle',
    'İ',
    'K',
    'ß',
    'e\u0301',
    'Z\u0351\u036b\u0343',
    '😀',
    '\uffff',
    '\ud800',
    'a\udfffb',
    '\u0000',
    '\u0001',
  ],
  ...[
    '\u001b[2J\u001b]0;x\u0007',
    '\u007f',
    '\b\b\b',
    '\u00a0',
    '\u3000',
    'über',
    '日本語',
    '%c0%ae%c0%ae%c0%af',
    '𝕨𝕖𝕓',
  ],
]

/** Every text once; the ones that do something do it under a number of their own. */
export function hostileTexts({ directory, port }: Bait): string[] {
  const all = [...commands, ...options, ...addresses, ...paths, ...names, ...templates, ...characters]
  return all.map((text, index) => {
    const file = `${directory}/${index}`
    return text.replaceAll('TOUCH', `touch ${file}`).replaceAll('FILE', file).replaceAll('PORT', String(port))
  })
}

/** Bytes that are no text: overlong and broken UTF-8. For where a request is sent byte by byte. */
export const brokenUtf8: readonly Buffer[] = [
  'c0ae',
  'c0afc0ae',
  'e080af',
  'f08080af',
  'eda080',
  'ff',
  '80',
  'f5808080',
].map((hex) => Buffer.from(hex, 'hex'))

// What an attacker would write wherever a person or a program can choose a text.

/** It runs if any page takes it for markup. */
const payload = '<img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=1</script>'
/** It turns what follows around, if the page does not end it. */
const bidi = '\u202e\u2067evil'
const word = 'w'.repeat(300)

export const hostile = {
  message: `${payload} ${bidi} ${word}\n\n${payload}`,
  error: `${payload} ${word}`,
  command: `echo '${payload}' ${bidi} # ${word}`,
  path: `/${encodeURIComponent(payload)}`,
  token: `${payload.slice(0, 60)}${bidi}`,
  lines: [
    payload,
    bidi,
    word,
    `\u001b[31mred\u001b[0m \u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007 \u001b[2J\u0007`,
    '10 %\r20 %\r100 %',
    'javascript:alert(1) data:text/html,x https://example.com/"onclick="x',
  ],
} as const

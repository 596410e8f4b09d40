// A request to the API as a command for a shell.

interface Request {
  method: string
  path: string
  body?: unknown
}

/** The token stays in a variable of the shell. */
export function toCurl(origin: string, { method, path, body }: Request): string {
  const parts = [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    '-H "Authorization: Bearer $BERTH_TOKEN"',
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
    quote(`${origin}/api/v1${path}`),
  ]
  return parts.join(' \\\n  ')
}

/** As one word of a command. */
export function toWord(text: string): string {
  return /^[\w.@:/][\w.@:/-]*$/.test(text) ? text : quote(text)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

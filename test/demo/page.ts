// Requests the example app's page like a visitor. Each visit uses a new connection: a kept-alive one would
// delay the end of the old container.
import { get } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Page {
  title: string
  version: string
  commit: string
  instance: string
}

const timeoutMs = 5_000

/** Rejects without a response, or with another status than 200. */
export async function visit(url: string): Promise<Page> {
  const html = await fetchText(url)
  return {
    title: /<title>(.*?)<\/title>/.exec(html)?.[1] ?? 'no title',
    version: /<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? 'no version',
    commit: factOf(html, 'commit'),
    instance: factOf(html, 'instance'),
  }
}

function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // Names below .localhost are this machine, even if no resolver supports them.
    const { hostname, port, pathname, host } = new URL(url)
    const address = hostname.endsWith('.localhost') ? '127.0.0.1' : hostname
    const options = { host: address, port, path: pathname, headers: { host }, agent: false as const }
    const asking = get({ ...options, timeout: timeoutMs }, (response) => {
      if (response.statusCode === 200) return text(response).then(resolve, reject)
      response.resume()
      reject(new Error(`${url} responded with ${response.statusCode}`))
    })
    asking.on('timeout', () =>
      asking.destroy(new Error(`${url} did not respond within ${timeoutMs / 1000} s`)),
    )
    asking.on('error', reject)
  })
}

function factOf(html: string, name: string): string {
  return new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`).exec(html)?.[1] ?? 'unknown'
}

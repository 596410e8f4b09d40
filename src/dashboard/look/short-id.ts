/** The end of an id, which differs between ids of one moment: `…7q3f`. */
export function shortId(id: string): string {
  return `…${id.slice(-4).toLowerCase()}`
}

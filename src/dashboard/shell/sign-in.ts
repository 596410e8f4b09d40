/** Leads to the form, and back to an address of the dashboard. */
export function signInPath(href = location.pathname + location.search): string {
  return `/login?next=${encodeURIComponent(href)}`
}

// The sign of Berth: an anchor. On pages, and as the icon of their tab.
import { Html } from './html.ts'

export const markSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true">
<rect width="32" height="32" rx="8" fill="#0f6b73"/>
<g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round">
<circle cx="16" cy="8.6" r="2.4"/>
<path d="M16 11v14.4M11.4 14.6h9.2M7.4 18.4c.5 4.5 4.1 7 8.6 7s8.1-2.5 8.6-7"/>
</g>
</svg>`

export const mark = new Html(markSvg)

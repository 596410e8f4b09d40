// The one style sheet: system fonts, light and dark. Inputs have 16 px, for phones zoom into smaller ones.
import { Html } from './html.ts'

export const style = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f3ef, #101718);
  --sheet: light-dark(#ffffff, #182122);
  --text: light-dark(#1b2526, #e5ecec);
  --quiet: light-dark(#5a6869, #9aa9aa);
  --line: light-dark(#dcdbd4, #2b3839);
  --edge: light-dark(#8a9596, #64767a);
  --accent: light-dark(#0f6b73, #6cc6cb);
  --on-accent: light-dark(#ffffff, #06282b);
  --bad: light-dark(#a5281b, #f4a196);
  --bad-ground: light-dark(#fbeeec, #331d1b);
  --good-ground: light-dark(#e9f4f2, #12302f);
}
[data-theme='light'] { color-scheme: light; }
[data-theme='dark'] { color-scheme: dark; }
* { box-sizing: border-box; margin: 0; }
html { text-size-adjust: 100%; -webkit-text-size-adjust: 100%; }
body {
  padding: 1.25rem 1rem 4rem;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
header, main { margin: 0 auto; max-width: 29rem; }
.wide header, .wide main { max-width: 42rem; }
.manual header, .manual main { max-width: 52rem; }
header, .row { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem; }
header, .row { justify-content: space-between; }
header { padding-bottom: 1.25rem; }
.brand { display: flex; align-items: center; gap: 0.6rem; }
.brand { color: var(--text); font-weight: 650; font-size: 1.15rem; }
.brand svg { width: 2rem; height: 2rem; }
nav { display: flex; flex-wrap: wrap; column-gap: 1rem; }
nav a, .brand { padding-block: 0.6rem; text-decoration: none; }
nav a:hover { text-decoration: underline; }
[aria-current] { font-weight: 600; }
.narrow main, section, article {
  padding: 1.75rem 1.25rem;
  background: var(--sheet);
  border: 1px solid var(--line);
  border-radius: 1rem;
}
section, main > p { margin-top: 1.25rem; }
h1, h2, h3 { line-height: 1.25; }
h1 { font-size: 1.65rem; }
h2 { font-size: 1.2rem; }
h3 { font-size: 1.05rem; }
p, ul, ol, pre, table { margin-top: 0.6rem; }
.lead, .quiet, .hint { color: var(--quiet); }
.lead strong { color: var(--text); }
.quiet, .hint { font-size: 0.9rem; font-weight: 400; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code { font: 0.92em/1.5 ui-monospace, Menlo, Consolas, monospace; }
form { margin-top: 1.1rem; }
.choice { display: grid; gap: 0.75rem; }
.row form, header form { margin: 0; }
.field { margin-block: 1.1rem; }
label, legend { display: block; margin-bottom: 0.35rem; font-weight: 600; }
fieldset, legend { min-width: 0; padding: 0; border: 0; }
input, select, button, .button {
  width: 100%;
  min-height: 3rem;
  padding: 0.6rem 0.8rem;
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  background: var(--sheet);
  color: inherit;
  font: inherit;
}
.option { display: flex; gap: 0.75rem; }
.option input { flex: none; width: 1.25rem; accent-color: var(--accent); }
.option .quiet { display: block; }
input[aria-invalid] { border-color: var(--bad); }
.problem { color: var(--bad); font-weight: 600; }
button, .button {
  display: inline-block;
  border-color: var(--accent);
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
.second, .danger { background: transparent; color: var(--text); border-color: var(--edge); }
.danger { color: var(--bad); border-color: var(--bad); }
header button, .row button, li button { width: auto; }
.plain { padding-inline: 0; border-color: transparent; background: transparent; color: var(--accent); }
.plain { font-weight: 400; }
button:hover, .button:hover { text-decoration: underline; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.alert, .done, .command, .code { margin-top: 1.25rem; padding: 0.9rem 1.1rem; border-radius: 0.6rem; }
.alert { background: var(--bad-ground); border-left: 4px solid var(--bad); }
.done { background: var(--good-ground); border-left: 4px solid var(--accent); }
.command, .code, article pre { background: var(--ground); border: 1px solid var(--line); }
.command { user-select: all; -webkit-user-select: all; }
.code { padding-inline: 0.25rem; text-align: center; }
.code span { display: block; }
.code strong { font: 700 clamp(2rem, 12vw, 3.5rem)/1.2 ui-monospace, monospace; white-space: nowrap; }
li { padding: 0.9rem 0; border-top: 1px solid var(--line); }
.tag { padding: 0.1rem 0.55rem; border-radius: 1rem; background: var(--good-ground); color: var(--accent); }
.tag { font-size: 0.8rem; font-weight: 600; white-space: nowrap; }
summary { width: fit-content; padding: 0.5rem 0; color: var(--accent); cursor: pointer; }
section ul { padding: 0; list-style: none; }
article h2, article h3 { margin-top: 2rem; }
article li { padding: 0.15rem 0; border: 0; }
article pre { padding: 0.8rem 1rem; overflow-x: auto; border-radius: 0.6rem; overflow-wrap: normal; }
article table { display: block; overflow-x: auto; border-collapse: collapse; font-size: 0.94rem; }
article th, article td { padding: 0.45rem 0.9rem 0.45rem 0; border-top: 1px solid var(--line); }
article th, article td { vertical-align: top; text-align: left; }
article td { min-width: 5rem; overflow-wrap: break-word; }
@media (min-width: 36rem) {
  body { padding-top: 3rem; }
  .narrow main, section, article { padding: 2.25rem; }
  .choice { grid-template-columns: 1fr 1fr; }
}
`

export const markSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true">
<rect width="32" height="32" rx="8" fill="#0f6b73"/>
<g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round">
<circle cx="16" cy="8.6" r="2.4"/>
<path d="M16 11v14.4M11.4 14.6h9.2M7.4 18.4c.5 4.5 4.1 7 8.6 7s8.1-2.5 8.6-7"/>
</g>
</svg>`

export const mark = new Html(markSvg)

// The one style sheet: system fonts, light and dark. Inputs have 16 px, for phones zoom into smaller ones.
import { Html } from './html.ts'

export const style = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f3ef, #101718);
  --sheet: light-dark(#ffffff, #182122);
  --sunk: light-dark(#f4f3ef, #101718);
  --text: light-dark(#1b2526, #e5ecec);
  --quiet: light-dark(#5a6869, #9aa9aa);
  --line: light-dark(#dcdbd4, #2b3839);
  --edge: light-dark(#8a9596, #64767a);
  --accent: light-dark(#0f6b73, #6cc6cb);
  --accent-strong: light-dark(#0a545b, #8fd8dc);
  --on-accent: light-dark(#ffffff, #06282b);
  --bad: light-dark(#a5281b, #f4a196);
  --bad-ground: light-dark(#fbeeec, #331d1b);
  --good-ground: light-dark(#e9f4f2, #12302f);
}
* { box-sizing: border-box; margin: 0; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  min-height: 100vh;
  padding: 1.25rem 1rem 4rem;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  overflow-wrap: anywhere;
}
header, main { margin: 0 auto; }
.narrow header, .narrow main { max-width: 27rem; }
.wide header, .wide main { max-width: 42rem; }
.manual header, .manual main { max-width: 52rem; }
header { padding-bottom: 1.25rem; }
.brand {
  display: inline-flex;
  align-items: center;
  gap: 0.6rem;
  color: var(--text);
  font-weight: 650;
  font-size: 1.15rem;
  letter-spacing: -0.01em;
  text-decoration: none;
}
.brand svg { width: 2rem; height: 2rem; flex: none; }
.narrow main, section, article {
  padding: 1.75rem 1.25rem;
  background: var(--sheet);
  border: 1px solid var(--line);
  border-radius: 1rem;
}
section { margin-top: 1.25rem; }
h1 { font-size: 1.65rem; line-height: 1.2; letter-spacing: -0.02em; }
h2 { font-size: 1.2rem; line-height: 1.3; letter-spacing: -0.01em; }
h2 + p, p + p, ul, .lead { margin-top: 0.6rem; }
h1 + p { margin-top: 0.6rem; }
h1 + .lead { margin-top: 0.35rem; }
.lead { color: var(--quiet); }
.lead strong { color: var(--text); }
.quiet, .hint { color: var(--quiet); font-size: 0.9rem; font-weight: 400; }
main > p.quiet { margin-top: 1.5rem; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code { font: 0.92em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
form { margin-top: 1.5rem; }
.field { margin-bottom: 1.1rem; }
label { display: block; margin-bottom: 0.35rem; font-weight: 600; }
input, select {
  width: 100%;
  min-height: 3rem;
  padding: 0.6rem 0.8rem;
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  background: var(--sheet);
  color: inherit;
  font: inherit;
}
fieldset { min-width: 0; padding: 0; border: 0; }
legend { margin-bottom: 0.35rem; padding: 0; font-weight: 600; }
.option { position: relative; margin: 0; padding: 0.75rem 1rem 0.75rem 3rem; font-weight: 400; }
.option + .option { margin-top: 0.6rem; }
.option input {
  position: absolute;
  inset: 0;
  height: 100%;
  padding: 0;
  background: transparent;
  cursor: pointer;
  -webkit-appearance: none;
  appearance: none;
}
.option input::before {
  content: "";
  position: absolute;
  top: 0.95rem;
  left: 1rem;
  box-sizing: border-box;
  width: 1.25rem;
  height: 1.25rem;
  border: 2px solid var(--edge);
  border-radius: 0.25rem;
}
.option input[type="radio"]::before { border-radius: 50%; }
.option input:checked { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.option input:checked::before { border: 0.4rem solid var(--accent); }
.option input[type="checkbox"]:checked::before { background: var(--accent); }
.option input[type="checkbox"]:checked::after {
  content: "";
  position: absolute;
  top: 1.12rem;
  left: 1.43rem;
  width: 0.4rem;
  height: 0.7rem;
  border: solid var(--on-accent);
  border-width: 0 2px 2px 0;
  transform: rotate(45deg);
}
.option > span { position: relative; pointer-events: none; }
.option .quiet { display: block; }
input[aria-invalid] { border-color: var(--bad); }
.hint, .problem { margin-top: 0.35rem; }
.problem { color: var(--bad); font-weight: 600; }
button, .button {
  display: inline-block;
  width: 100%;
  min-height: 3rem;
  padding: 0.65rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: 0.6rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-strong); border-color: var(--accent-strong); }
.second, .danger { background: transparent; color: var(--text); border-color: var(--edge); }
.plain { padding-inline: 0.25rem; border-color: transparent; background: transparent; color: var(--accent); }
.plain:hover { border-color: transparent; background: transparent; text-decoration: underline; }
.second:hover { background: var(--sunk); border-color: var(--text); }
.danger { color: var(--bad); border-color: var(--bad); }
.danger:hover { background: var(--bad-ground); border-color: var(--bad); }
p > .button { margin-top: 0.9rem; }
p + button, p + .field { margin-top: 1.1rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.alert, .done { margin-top: 1.25rem; padding: 0.9rem 1.1rem; border-radius: 0.6rem; }
.alert { background: var(--bad-ground); border-left: 4px solid var(--bad); }
.done { background: var(--good-ground); border-left: 4px solid var(--accent); }
.code, .command {
  margin: 1.25rem 0;
  border-radius: 0.75rem;
  background: var(--sunk);
  border: 1px solid var(--line);
}
.code { padding: 1rem 0.25rem 1.1rem; text-align: center; }
.code span { display: block; }
.code strong {
  font: 700 clamp(2rem, 12vw, 3.5rem)/1.2 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  letter-spacing: 0.02em;
  white-space: nowrap;
}
.command { padding: 0.75rem 1rem; margin-bottom: 0; user-select: all; -webkit-user-select: all; }
.choice { display: grid; gap: 0.75rem; }
header, .row {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 1rem;
}
header { row-gap: 0.25rem; }
header form, .row form { margin: 0; }
header button, .row button { width: auto; min-height: 2.75rem; padding-block: 0.4rem; }
header button { margin-right: -0.25rem; font-weight: 400; }
header nav { display: flex; flex-wrap: wrap; column-gap: 1.25rem; }
header nav:has(+ form) { order: 1; flex-basis: 100%; }
nav a { display: inline-block; padding-block: 0.6rem; text-decoration: none; }
nav a:hover { text-decoration: underline; }
header [aria-current] { font-weight: 600; }
.jump { display: flex; flex-wrap: wrap; column-gap: 1.25rem; font-size: 0.9rem; }
.jump a { color: var(--quiet); text-decoration: underline; }
.tabs {
  display: flex;
  margin-top: 1.25rem;
  padding: 0.25rem;
  border-radius: 0.75rem;
  background: var(--sunk);
  border: 1px solid var(--line);
}
.tabs a {
  flex: 1 1 auto;
  padding: 0.5rem 0.6rem;
  border-radius: 0.5rem;
  color: var(--quiet);
  text-align: center;
}
.tabs [aria-current] {
  background: var(--sheet);
  color: var(--text);
  font-weight: 600;
  box-shadow: 0 1px 2px rgb(0 0 0 / 0.15);
}
ul { padding: 0; list-style: none; }
li { padding: 0.9rem 0; border-top: 1px solid var(--line); }
li:last-child { padding-bottom: 0; }
li p + p { margin-top: 0.1rem; }
.tag {
  padding: 0.1rem 0.55rem;
  border-radius: 1rem;
  background: var(--good-ground);
  color: var(--accent);
  font-size: 0.8rem;
  font-weight: 600;
  white-space: nowrap;
}
summary { width: fit-content; padding: 0.5rem 0; color: var(--accent); font-size: 0.9rem; cursor: pointer; }
summary + .field { margin-top: 0.6rem; }
li form { margin: 0.35rem 0 0; }
li details button { width: auto; margin-top: 0.6rem; }
details.form { margin-top: 1.1rem; }
details.form > summary {
  padding: 0.6rem 1.1rem;
  border: 1px solid var(--edge);
  border-radius: 0.6rem;
  color: var(--text);
  font-size: 1rem;
  font-weight: 600;
  list-style: none;
}
details.form > summary::-webkit-details-marker { display: none; }
details.form > summary:hover { background: var(--sunk); border-color: var(--text); }
form > details, .command + p { margin-top: 1rem; }
article h2 { margin-top: 2.25rem; }
article h3 { margin-top: 1.75rem; font-size: 1.05rem; }
article p, article ul, article ol, article pre, article table { margin-top: 0.9rem; }
article ul, article ol { padding-left: 1.4rem; list-style: disc; }
article ol { list-style: decimal; }
article li { padding: 0.15rem 0; border: 0; }
article pre {
  padding: 0.8rem 1rem;
  overflow-x: auto;
  border: 1px solid var(--line);
  border-radius: 0.6rem;
  background: var(--sunk);
  overflow-wrap: normal;
}
article table { display: block; overflow-x: auto; border-collapse: collapse; font-size: 0.94rem; }
article th, article td {
  padding: 0.45rem 0.9rem 0.45rem 0;
  border-top: 1px solid var(--line);
  vertical-align: top;
}
article th { border-top: 0; text-align: left; }
article td { min-width: 5rem; overflow-wrap: break-word; }
@media (min-width: 36rem) {
  article { padding: 2.25rem 2.5rem; }
  body { padding-top: 3rem; }
  .narrow main { padding: 2.25rem; }
  section { padding: 1.75rem 2rem; }
  .choice { grid-template-columns: 1fr 1fr; }
  .wide header nav:has(+ form) { order: 0; flex-basis: auto; margin-left: auto; }
  .wide details.form > form > button { width: auto; }
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

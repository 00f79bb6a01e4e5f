import { palette } from '../../authorization-server/pages/stylesheet.ts';
import { inkOn } from '../../config/colour.ts';
import { DIRECTORY_STYLES } from './directory/stylesheet.ts';
import { OPERATE_STYLES } from './operate/styles.ts';
import { RECORDER_STYLES } from './recorder/stylesheet.ts';
import { TRAFFIC_STYLES } from './traffic/styles.ts';

/** The stylesheet of the console, in the colours of the members' pages. */
export function consoleStylesheet(colour: string): string {
  return palette(colour) + FRAME + PARTS + TRAFFIC_STYLES + DIRECTORY_STYLES + RECORDER_STYLES + OPERATE_STYLES;
}

/** The icon of the tab: a gate, in the colour of the pages. */
export function consoleIcon(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colour}"/><path d="M9 25V12a7 7 0 0 1 14 0v13M16 9v16" fill="none" stroke="${inkOn(colour)}" stroke-width="3" stroke-linecap="round"/></svg>`;
}

const FRAME = `
@media (prefers-contrast: more) { :root { --soft: var(--ink); --line: var(--ink); } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
.skip { position: absolute; inset-inline-start: .5rem; top: -4rem; padding: .5rem 1rem; background: var(--paper); color: var(--accent); z-index: 1; }
.skip:focus { top: .5rem; }
.top { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; justify-content: space-between; padding: .75rem 1rem; background: var(--paper); border-bottom: 1px solid var(--line); }
.top .school { margin: 0; font-weight: 600; }
.top .school span { color: var(--soft); font-weight: 400; }
.who { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; margin: 0; color: var(--soft); font-size: .875rem; }
.sections { padding: 0 .5rem; background: var(--paper); border-bottom: 1px solid var(--line); }
.sections ul { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; }
.sections a { display: block; padding: .625rem .5rem; color: var(--soft); text-decoration: none; border-bottom: 3px solid transparent; }
.sections a:hover { color: var(--ink); }
.sections a[aria-current] { color: var(--ink); font-weight: 600; border-bottom-color: var(--accent); }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 2rem; outline: none; }
.outside main { max-width: 34rem; }
.outside .top { padding-inline: max(1rem, calc((100vw - 34rem) / 2 + 1rem)); }
.foot { max-width: 76rem; margin: 0 auto; padding: 0 1rem 1.5rem; color: var(--soft); font-size: .8125rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 1.5rem 0 .75rem; font-size: 1.125rem; line-height: 1.25; }
p { margin: 0 0 1rem; max-width: 70ch; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875em; }
@media (min-width: 60rem) {
  .inside .top, .sections { padding-inline: max(1rem, calc((100vw - 76rem) / 2 + 1rem)); }
  .sections ul { margin-inline: -.75rem; }
  .sections a { padding-inline: .75rem; }
}
`;

/** What the pages are made of. */
const PARTS = `
.muted { color: var(--soft); }
.notice { max-width: none; padding: .75rem 1rem; border-inline-start: .25rem solid currentColor; background: var(--warn-ground); color: var(--warn-ink); }
.notice.good { background: var(--good-ground); color: var(--good-ink); }
.notice.bad { background: var(--bad-ground); color: var(--bad-ink); }
.concerns { margin: 0 0 1rem; padding: 0; list-style: none; display: grid; gap: .5rem; }
.notice a { color: inherit; font-weight: 600; }
pre { margin: 0 0 1rem; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .375rem; white-space: pre-wrap; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .8125rem; white-space: nowrap; background: var(--ground); color: var(--soft); border: 1px solid var(--line); }
.badge.good { background: var(--good-ground); color: var(--good-ink); border-color: transparent; }
.badge.warn { background: var(--warn-ground); color: var(--warn-ink); border-color: transparent; }
.badge.bad { background: var(--bad-ground); color: var(--bad-ink); border-color: transparent; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; margin-bottom: 1rem; }
.card { min-width: 0; padding: 1rem 1.25rem; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; margin-bottom: 1rem; }
.cards > .card { margin-bottom: 0; }
.card > h2:first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.facts { display: grid; grid-template-columns: minmax(6rem, auto) 1fr; gap: .375rem 1rem; margin: 0 0 1rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; min-width: 0; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.scroll + p { margin-top: .75rem; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
caption { text-align: start; color: var(--soft); padding-bottom: .5rem; }
th, td { padding: .5rem .75rem .5rem 0; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; font-size: .8125rem; }
thead th { white-space: nowrap; }
th[scope=row] { color: var(--ink); font-size: inherit; }
th small, td small { display: block; color: var(--soft); font-weight: 400; font-size: .8125rem; }
td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; }
tbody tr:last-child > * { border-bottom: 0; }
::placeholder { color: var(--soft); opacity: 1; }
label { display: block; margin: 0 0 .25rem; font-weight: 600; }
input:not([type=hidden], [type=checkbox], [type=radio]), select { min-height: 2.75rem; padding: .375rem .75rem; font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: .375rem; max-width: 100%; }
input[type=checkbox], input[type=radio] { width: 1.5rem; height: 1.5rem; accent-color: var(--accent); vertical-align: middle; }
.fields input:not([type=hidden], [type=checkbox], [type=radio]) { display: block; width: 100%; margin-bottom: 1rem; }
.filter { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: 0 0 1rem; }
.filter[role=search] { max-width: 44rem; }
.filter input:not([type=hidden], [type=checkbox], [type=radio]) { flex: 1 1 10rem; min-width: 0; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 1rem 0; }
.button, button { display: inline-block; min-height: 2.75rem; padding: .5rem 1rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--accent); background: var(--paper); border: 1px solid var(--accent); border-radius: .375rem; cursor: pointer; }
.button.go, button.go { background: var(--accent); color: var(--on-accent); }
.button.danger, button.danger { color: var(--bad-ink); border-color: var(--bad-ink); }
button.quiet { min-height: 2.25rem; padding: .25rem .75rem; border-color: var(--line); font-weight: 400; }
summary { min-height: 2.75rem; padding-block: .5rem; cursor: pointer; font-weight: 600; }
.pager { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 1rem 0; }
`;

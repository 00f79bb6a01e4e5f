import { palette } from '../../authorization-server/pages/stylesheet.ts';
import { inkOn } from '../../config/colour.ts';

/** The stylesheet of the console, in the colours of the members' pages. */
export function consoleStylesheet(colour: string): string {
  return palette(colour) + FRAME + PARTS + CHARTS + LISTS + ATTEMPTS + CHANGES;
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

/** Charts and numbers. Lines differ by their dashes too, so colour is never all that tells them apart. */
const CHARTS = `
:root { --line-1: #1d5fc4; --line-2: #0b7285; --line-3: #7b3fc4; --line-4: #5f6b7d; --line-5: #b45309; --line-6: #b91c1c; }
@media (prefers-color-scheme: dark) {
  :root { --line-1: #86b4ff; --line-2: #5fd0de; --line-3: #cbaaff; --line-4: #aab5c8; --line-5: #ffb366; --line-6: #ff9494; }
}
.spans { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 1rem; padding: 0; list-style: none; }
.spans a { display: inline-block; padding-block: .375rem; }
.spans a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; border-bottom: 3px solid var(--accent); }
.totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem 1.5rem; margin: 0 0 1.25rem; }
.totals dt { color: var(--soft); font-size: .875rem; }
.totals dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; margin: 0 0 1.5rem; }
.figure { min-width: 0; padding: 1rem 1.25rem; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
.card .figure { padding: 0; border: 0; }
.card .figures { gap: 1.5rem 2.5rem; }
.card .figure:nth-child(3) { grid-column: 1 / -1; }
.figure h3 { margin: 0; font-size: 1rem; line-height: 1.5; }
.figure > p { margin: 0 0 .5rem; font-size: .875rem; }
svg.chart { display: block; box-sizing: border-box; width: 100%; height: 13rem; padding-block: .75rem 1.75rem; padding-inline: 3.5rem 1.25rem; overflow: visible; direction: ltr; }
svg.axis { display: block; width: 100%; height: 1.25rem; overflow: visible; }
.axis g.times { transform: translateY(-1.25rem); }
.chart text, .axis text { font-size: .75rem; fill: var(--soft); }
.chart .levels line { stroke: var(--line); stroke-width: 1; }
.chart path { fill: none; stroke-width: 2; stroke-linejoin: round; }
.chart path.dot { stroke-width: 6; stroke-linecap: round; }
.sample { flex: none; width: 2rem; height: .625rem; }
.sample line { stroke-width: 2.5; }
.line-1 { stroke: var(--line-1); } .line-2 { stroke: var(--line-2); } .line-3 { stroke: var(--line-3); }
.line-4 { stroke: var(--line-4); } .line-5 { stroke: var(--line-5); } .line-6 { stroke: var(--line-6); }
.gap { fill: var(--line); background: var(--line); opacity: .45; }
.sample.gap { height: .875rem; }
.rows { display: grid; gap: .5rem; margin: 0 0 .25rem; padding: 0; list-style: none; font-size: .875rem; }
.rows li { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; align-items: end; }
.rows svg { grid-column: 1 / -1; grid-row: 2; }
svg.columns { display: block; width: 100%; height: 1.75rem; border-bottom: 1px solid var(--line); }
.columns path { fill: var(--line-1); }
@media (min-width: 36rem) {
  .rows li { grid-template-columns: 9rem 1fr 3.5rem; }
  .rows li > svg { grid-column: 2; grid-row: 1; }
  .rows b { text-align: end; }
}
@media (max-width: 36rem) { .times .wide { display: none; } }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .25rem 0 .25rem; padding: 0; list-style: none; font-size: .875rem; }
.legend li { display: flex; gap: .5rem; align-items: center; }
.figure details .scroll { max-height: 20rem; overflow: auto; }
table.numbers th:not(:first-child), table.numbers td { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

/** The pages about apps, members and grants. */
const LISTS = `
.rows, .trail, .plain { margin: 0 0 1rem; padding: 0; list-style: none; }
.rows > li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding: .625rem 0; border-bottom: 1px solid var(--line); }
.rows > li > div { flex: 1 1 16rem; min-width: 0; }
.rows p, .trail p { margin: 0; max-width: none; }
.rows p { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; font-size: .875rem; }
.rows a:not(.button), .trail a, .plain a { display: inline-block; line-height: 1.5rem; min-height: 1.5rem; }
.rows .name { font-weight: 600; }
.rows > li:last-child, .trail > li:last-child { border-bottom: 0; }
.trail > li { padding: .5rem 0; border-bottom: 1px solid var(--line); }
.trail time { display: inline-block; min-width: 11.5rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.trail p + p { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; font-size: .875rem; }
.plain > li { padding: .25rem 0; }
.filter .wide { flex: 1 1 18rem; }
.filter .wide input, .filter select { width: 100%; }
.filter .tick { align-self: center; }
.tick { display: inline-flex; gap: .5rem; align-items: center; min-height: 2.75rem; margin: 0; font-weight: 400; }
.filter .tick input[type=checkbox], .tick input[type=checkbox] { flex: none; }
.narrow { max-width: 40rem; }
.small { font-size: .875rem; }
`;

/** Attempts to connect. */
const ATTEMPTS = `
.attempts th[scope=row] { font-size: inherit; color: inherit; }
.attempts thead th { white-space: nowrap; }
.attempts td { min-width: 5rem; }
.more { margin-top: .75rem; }
.attempts .when { white-space: nowrap; color: var(--soft); }
.advice { margin: 0 0 1rem; }
.advice div { margin-bottom: .75rem; }
.advice dt { font-weight: 600; }
.advice dd { margin: 0; max-width: 70ch; }
.steps { list-style: none; margin: 0 0 1rem; padding: 0; }
.steps > li { position: relative; padding: 0 0 1rem 1.75rem; border-inline-start: 2px solid var(--line); margin-inline-start: .5rem; }
.steps > li:last-child { border-color: transparent; }
.steps > li::before { content: ""; position: absolute; inset-inline-start: calc(-.375rem - 1px); top: .375rem; width: .75rem; height: .75rem; border-radius: 50%; background: var(--good-ink); }
.steps > li.expected::before { background: var(--soft); }
.steps > li.refused::before { background: var(--bad-ink); border-radius: 0; }
.steps p { margin: 0; }
.steps .result { color: var(--soft); }
.steps .refused .result { color: var(--bad-ink); }
.parameters { margin: .25rem 0 0; font-size: .875rem; }
.parameters div { display: flex; flex-wrap: wrap; gap: 0 .5rem; }
.parameters dt { color: var(--soft); }
.parameters dd { margin: 0; min-width: 0; font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.report { margin: 0; padding: 1rem; overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: .375rem; font: .8125rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
@media (max-width: 47.99rem) {
  .attempts thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .attempts, .attempts tbody, .attempts tr, .attempts th, .attempts td { display: block; }
  .attempts tr { padding: .75rem 0; border-bottom: 1px solid var(--line); }
  .attempts th, .attempts td { padding: 0; border: 0; }
}
`;

/** Text in a fixed width, and the changes of a file. */
const CHANGES = `
pre.code, .diff { margin: 0 0 1rem; padding: .75rem 1rem; max-height: 30rem; overflow: auto; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; font: .8125rem/1.6 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: normal; }
pre.code:focus-visible, .diff:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.diff { padding-inline: 0; }
.diff p { margin: 0; max-width: none; white-space: pre; width: max-content; min-width: 100%; }
.diff ins, .diff del { display: block; padding-inline: 1rem; text-decoration: none; }
.diff ins { background: var(--good-ground); color: var(--good-ink); }
.diff del { background: var(--bad-ground); color: var(--bad-ink); }
.diff .kept { padding: .25rem 1rem; color: var(--soft); }
.scroll + p { margin-top: 1rem; }
.observed code { white-space: nowrap; }
`;

/** Charts and numbers. Lines differ by their dashes too, so colour is never all that tells them apart. */
export const TRAFFIC_STYLES = `
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

/** Classes of the recorder's pages. */
export const RECORDER_STYLES = `
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

export const OPERATE_STYLES = `
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

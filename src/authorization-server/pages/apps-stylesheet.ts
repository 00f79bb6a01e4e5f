/** The styles of the connected apps: the list, the page about one app, and what disconnects. */
export const CONNECTED_APPS = `
.apps { margin: 0 0 1.5rem; padding: 0; list-style: none; border-top: 1px solid var(--line); }
.app { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 0 .75rem; align-items: center; padding: .625rem 0; border-bottom: 1px solid var(--line); }
.app .mark { width: 2.25rem; height: 2.25rem; align-self: start; margin-top: .25rem; }
.app h2 a { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 2; padding-block: .125rem; line-height: 1.375; }
.app p { margin: 0; font-size: .8125rem; }
.app p.muted { display: flex; flex-wrap: wrap; gap: 0 .75rem; }
.badge { display: inline-block; margin: .125rem 0; padding: 0 .5rem; border: 1px solid currentColor; border-radius: .5rem; font-size: .8125rem; font-weight: 600; background: var(--warn-ground); color: var(--warn-ink); }
.app .badge { margin: .125rem 0; }
.badge.problem { background: var(--bad-ground); color: var(--bad-ink); }
.end { display: inline-block; padding: .625rem 0; font-size: .875rem; color: var(--bad-ink); }
.button.danger, button.danger { background: var(--bad-ink); border-color: var(--bad-ink); color: var(--bad-ground); }
.button.danger.quiet { background: var(--paper); color: var(--bad-ink); }
.up { margin: 0 0 1rem; font-size: .875rem; }
.up a { display: inline-block; padding-block: .25rem; }
.who { display: flex; gap: 1rem; align-items: flex-start; margin: 0 0 1rem; }
.who .mark { flex: none; width: 3rem; height: 3rem; }
.who > div { min-width: 0; }
.who h1 { margin: .25rem 0; }
#app section { margin: 0 0 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
#app section h2 { margin: 0 0 .75rem; font-size: 1.125rem; }
#app section h3 { margin: 0 0 .25rem; font-size: 1rem; }
#app section ul { margin: 0 0 1rem; padding-inline-start: 1.25rem; }
#app section li { padding-block: .125rem; }
.changes { margin: 0 0 1rem; padding: .75rem 1rem 0; border: 2px solid var(--warn-ink); border-radius: .5rem; }
.changes h3 { color: var(--warn-ink); }
.changes ul { margin-bottom: .75rem; }
#app .connections { list-style: none; padding: 0; }
#app .connections li { padding: .375rem 0; border-bottom: 1px solid var(--line); }
.connections span { display: block; }
.usage { margin: 0 0 1rem; }
.usage svg { display: block; width: 100%; height: auto; }
.usage .reads { fill: var(--accent); }
.usage rect.changes { fill: var(--warn-ink); }
.usage .line { fill: var(--line); }
.usage .range, .usage .key { display: flex; justify-content: space-between; gap: 1rem; margin: .25rem 0 0; font-size: .8125rem; color: var(--soft); }
.usage .range { direction: ltr; }
.usage .key { justify-content: flex-start; }
.usage .key span { margin: 0; padding: 0; border: 0; }
.usage .key span::before { display: inline-block; width: .75rem; height: .75rem; margin-inline-end: .375rem; border-radius: .125rem; content: ""; background: var(--accent); }
.usage .key .changes::before { background: var(--warn-ink); }
.usage details { font-size: .875rem; }
.usage table { border-collapse: collapse; }
.usage th, .usage td { padding-block: .25rem; padding-inline: 0 1.5rem; text-align: start; font-weight: 400; border-bottom: 1px solid var(--line); }
.usage td { font-variant-numeric: tabular-nums; }
.usage thead th { font-weight: 600; }
`;

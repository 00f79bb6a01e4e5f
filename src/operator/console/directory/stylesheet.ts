/** What only the pages about apps, members and grants use. */
export const DIRECTORY_STYLES = `
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

/** The look of the pages: one column, large targets, the reader's own light or dark, no script, no image. */
export const STYLESHEET = `
:root {
  --ink: #1a2233; --soft: #4a5468; --paper: #ffffff; --ground: #f2f4f8; --line: #c9d0dc;
  --accent: #0b57d0; --on-accent: #ffffff; --warn-ink: #7a3d00; --warn-ground: #fff3e0; --focus: #0b57d0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8ecf4; --soft: #b3bccd; --paper: #1b2130; --ground: #11151f; --line: #3b465c;
    --accent: #a8c7fa; --on-accent: #062e6f; --warn-ink: #ffdcb8; --warn-ground: #3d2a12; --focus: #a8c7fa;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.school { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1rem .5rem; font-weight: 600; color: var(--soft); }
main { max-width: 34rem; margin: 0 auto 2rem; padding: 1.5rem 1rem; background: var(--paper); border: 1px solid var(--line); border-width: 1px 0; }
@media (min-width: 36rem) { main { padding: 2rem; border-width: 1px; border-radius: .75rem; } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2, legend { font-size: 1rem; font-weight: 600; margin: 0; padding: 0; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.muted { color: var(--soft); }
.notice { padding: .75rem 1rem; border-left: .25rem solid currentColor; background: var(--warn-ground); color: var(--warn-ink); }
.destination { margin: 0 0 1rem; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
.destination strong { display: block; font-size: 1.25rem; overflow-wrap: anywhere; }
.account { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; align-items: baseline; }
.account span { overflow-wrap: anywhere; }
fieldset { margin: 0 0 1rem; padding: 0; border: 0; }
.scope { display: flex; gap: .75rem; align-items: flex-start; padding: .625rem 0; min-height: 2.75rem; border-bottom: 1px solid var(--line); }
.scope input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.scope span { overflow-wrap: anywhere; }
.scope code { display: block; font-size: .8125rem; color: var(--soft); }
.actions { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; margin: 1.5rem 0 1rem; }
.button, button { display: block; width: 100%; min-height: 3rem; padding: .75rem 1rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--accent); background: var(--paper); border: 2px solid var(--accent); border-radius: .5rem; cursor: pointer; }
button.approve, .button.go { background: var(--accent); color: var(--on-accent); }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
`;

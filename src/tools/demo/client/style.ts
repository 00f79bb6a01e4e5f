/** The app's stylesheet: designed for 390 px, two columns on wide screens, light and dark. */
export const STYLE = `
:root { color-scheme: light dark; --page: #f4f6f6; --card: #fff; --ink: #16211f; --soft: #4d5c59; --line: #d3dbd9;
  --brand: #0f766e; --on-brand: #fff; --wash: #e3f1ef; --code: #eef2f1; --bad: #a61b1b; --bad-wash: #fdecec; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) {
  :root { --page: #101615; --card: #19211f; --ink: #e7eeec; --soft: #a5b4b1; --line: #33403d;
    --brand: #5eead4; --on-brand: #06251f; --wash: #17332f; --code: #111817; --bad: #ff9c9c; --bad-wash: #3a1c1c; --warn: #ffc37a; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem; padding: 1rem clamp(1rem, 4vw, 2.5rem);
  background: var(--card); border-bottom: 1px solid var(--line); }
header h1 { font-size: 1.25rem; margin: 0; }
header h1 a { display: flex; align-items: center; gap: .6rem; color: inherit; text-decoration: none; }
header p { margin: 0; color: var(--soft); }
main { max-width: 84rem; margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 2.5rem) 4rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 small, h3 small { font-weight: 400; color: var(--soft); }
h3 { font-size: .875rem; margin: 1.1rem 0 .35rem; }
a { color: var(--brand); text-underline-offset: .15em; }
code, pre { font: .875em/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
p code { background: var(--code); border: 1px solid var(--line); border-radius: 4px; padding: .1em .35em; }
.note { color: var(--soft); font-size: .9375rem; }
.hero { max-width: 42rem; margin: clamp(1rem, 6vh, 4rem) auto; }
.lead { font-size: clamp(1.15rem, 2.5vw, 1.4rem); line-height: 1.45; }
button, .button { display: inline-block; font: inherit; font-weight: 600; line-height: 1.3; padding: .65rem 1.1rem; min-height: 2.75rem;
  border: 1px solid var(--line); border-radius: 10px; background: var(--card); color: var(--ink); cursor: pointer; text-decoration: none; }
button:hover, .button:hover { border-color: var(--brand); }
:focus-visible { outline: 3px solid var(--brand); outline-offset: 2px; }
.primary { background: var(--brand); border-color: var(--brand); color: var(--on-brand); }
.big { font-size: 1.3rem; padding: .9rem 2.6rem; }
.danger { color: var(--bad); }
.choices { margin-top: 1.25rem; }
summary { cursor: pointer; padding: .5rem 0; }
fieldset { border: 1px solid var(--line); border-radius: 10px; margin: 0 0 1rem; padding: .5rem 1rem .75rem; background: var(--card); }
legend { font-weight: 600; padding: 0 .35rem; }
label { display: flex; gap: .65rem; align-items: flex-start; padding: .3rem 0; }
input { flex: none; width: 1.15rem; height: 1.15rem; margin: .2rem 0 0; accent-color: var(--brand); }
.columns { display: grid; gap: 2rem; }
.app > * + * { margin-top: 1.5rem; }
.app > h2 + p { margin-top: 0; }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; }
table { width: 100%; border-collapse: collapse; background: var(--card); font-size: .9375rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .65rem; border: solid var(--line); border-width: 1px 0; }
thead th { color: var(--soft); font-weight: 600; font-size: .8125rem; }
tbody th { font-weight: 600; }
.day { white-space: nowrap; }
.steps { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: .6rem; }
.step { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 0 1rem; scroll-margin-top: 1rem; }
.step summary { display: flex; align-items: center; gap: .75rem; padding: .7rem 0; list-style: none; }
.step summary::-webkit-details-marker { display: none; }
.step .number { flex: none; width: 1.9rem; height: 1.9rem; border-radius: 50%; display: grid; place-items: center;
  background: var(--wash); color: var(--brand); font-weight: 700; font-size: .9rem; }
.step .title { font-weight: 600; flex: 1; }
.step .state { font-size: .8125rem; color: var(--soft); }
.step .state::after { content: " ▾"; }
.step [open] .state::after { content: " ▴"; }
.failed { border-color: var(--bad); }
.failed .number { background: var(--bad-wash); }
.failed .number, .failed .state { color: var(--bad); }
.refused .state { color: var(--warn); }
.step p { margin: 0 0 .6rem; }
.facts { margin: 0 0 .6rem; padding: 0; list-style: none; }
.facts li { padding-left: 1.4rem; text-indent: -1.4rem; }
.facts li::before { content: "✓"; color: var(--brand); display: inline-block; width: 1.4rem; text-indent: 0; }
.problem { border-left: 4px solid var(--bad); background: var(--bad-wash); border-radius: 6px; padding: .75rem 1rem; margin: 0 0 .75rem; }
.problem p { margin: 0; }
.app > .problem { margin-bottom: 0; }
pre { margin: 0; padding: .75rem .9rem; background: var(--code); border-radius: 8px; overflow: auto; max-height: 26rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre i { font-style: normal; color: var(--brand); }
.exchange:last-child { padding-bottom: 1rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (min-width: 62rem) {
  .columns { grid-template-columns: minmax(0, 6fr) minmax(0, 7fr); gap: 2.5rem; }
  .app { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; padding: 4px; margin: -4px; }
}
`;

/** The school's stylesheet, served at /style.css: designed for 390 px, light and dark. */
export const STYLESHEET = `
:root { --ink: #1d2a30; --soft: #55666e; --line: #d5dde0; --paper: #fff; --ground: #f3f6f5; --sea: #14506b;
  --sea-dark: #0d3a4f; --on-sea: #fff; --rust: #b04a22; --field: #7d8f97; --banner: #0d3a4f; --alert: #fbeee8;
  --info: #e8f1f4; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4ecef; --soft: #a9b8bf; --line: #33444c; --paper: #18242a; --ground: #101a1f; --sea: #7cc4e0;
    --sea-dark: #a9daee; --on-sea: #082430; --rust: #f0a07c; --field: #8296a0; --banner: #0a2a39; --alert: #3b2318;
    --info: #15323e; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--sea); text-underline-offset: .15em; }
a:hover { color: var(--sea-dark); }
:focus-visible { outline: 3px solid var(--rust); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: .5rem; top: .5rem; background: var(--paper); padding: .5rem 1rem; }
.note { margin: 0; background: var(--banner); color: #e6f0f3; text-align: center; font-size: .875rem;
  padding: .4rem 1rem; }
.bar { background: var(--paper); border-bottom: 1px solid var(--line); }
.bar > div, main, footer { width: min(62rem, 100% - 2rem); margin-inline: auto; }
.bar > div { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.25rem; padding-block: .7rem; }
.bar nav { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.25rem; margin-left: auto; }
.bar nav a { padding-block: .25rem; }
.bar form { margin: 0; }
.visitor { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .75rem; }
.brand { font-family: Georgia, serif; font-size: 1.25rem; font-weight: 700; text-decoration: none;
  color: var(--sea-dark); }
main { padding-block: 2rem 3rem; }
h1 { font: 700 clamp(1.6rem, 5vw, 2.2rem)/1.2 Georgia, serif; margin: 0 0 .5rem; }
h2 { font: 700 1.25rem/1.3 Georgia, serif; margin: 2rem 0 .75rem; }
.lead { font-size: 1.1rem; color: var(--soft); max-width: 42rem; margin-top: 0; }
.soft { color: var(--soft); font-size: .9rem; }
.cards { list-style: none; margin: 1.25rem 0; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); }
.cards > li { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.1rem;
  display: flex; flex-direction: column; gap: .35rem; }
.cards h2 { margin: 0; font-size: 1.1rem; }
.cards p { margin: 0; }
.cards .soft:last-child { margin-top: auto; padding-top: .35rem; }
progress { width: 100%; height: .55rem; accent-color: var(--sea); }
.panel { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: 1.5rem; }
.narrow { max-width: 26rem; margin-inline: auto; }
p .button { margin-block: .35rem; }
.panel > :last-child { margin-bottom: 0; }
.panel form { display: grid; gap: .35rem; }
label { font-weight: 600; margin-top: .6rem; }
input { font: inherit; padding: .6rem .7rem; border: 1px solid var(--field); border-radius: .4rem; width: 100%;
  background: var(--paper); color: inherit; }
button, .button { font: inherit; font-weight: 600; cursor: pointer; border: 1px solid var(--sea);
  border-radius: .4rem; background: var(--sea); color: var(--on-sea); padding: .6rem 1.1rem; text-decoration: none;
  display: inline-block; text-align: center; }
button:hover, .button:hover { background: var(--sea-dark); color: var(--on-sea); }
.panel form button { margin-top: 1.1rem; }
button.plain { background: none; color: var(--sea); border-color: var(--line); padding: .3rem .8rem; }
button.plain:hover { background: none; color: var(--sea-dark); border-color: var(--sea); }
.alert { border-left: 4px solid var(--rust); background: var(--alert); padding: .6rem .9rem; margin: .75rem 0; }
.info { border-left: 4px solid var(--sea); background: var(--info); padding: .6rem .9rem; margin: .75rem 0; }
.lectures { padding-left: 0; list-style: none; margin: 0; }
.lectures li { display: flex; justify-content: space-between; gap: 1rem; padding: .5rem 0;
  border-top: 1px solid var(--line); }
.lectures .here { font-weight: 600; color: var(--sea-dark); }
.pages { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; margin-top: 1.5rem; }
@media (max-width: 36rem) {
  .bar nav { margin-left: 0; width: 100%; }
  .visitor { width: 100%; justify-content: space-between; }
  p > .button { display: block; }
  main { padding-block: 1.25rem 2rem; }
  .panel { padding: 1.1rem; }
}
footer { padding-block: 1.5rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
`;

import { inkOn, readableOn } from '../../config/colour.ts';
import { CONNECTED_APPS } from './apps-stylesheet.ts';

const DARK_PAPER = '#1b2130';
/** More than WCAG AA requires: text looks thinner on a dark background. */
const DARK_CONTRAST = 7;

/** The colours, light or dark by preference. `colour` must be readable on white. */
export function palette(colour: string): string {
  const onDark = readableOn(colour, DARK_PAPER, DARK_CONTRAST);
  return `
:root {
  --ink: #1a2233; --soft: #4a5468; --paper: #ffffff; --ground: #f2f4f8; --line: #c9d0dc;
  --accent: ${colour}; --on-accent: ${inkOn(colour)};
  --warn-ink: #7a3d00; --warn-ground: #fff3e0; --bad-ink: #9b1c1c; --bad-ground: #fdecec; --good-ink: #14532d; --good-ground: #eaf6ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8ecf4; --soft: #b3bccd; --paper: ${DARK_PAPER}; --ground: #11151f; --line: #3b465c;
    --accent: ${onDark}; --on-accent: ${inkOn(onDark)};
    --warn-ink: #ffdcb8; --warn-ground: #3d2a12; --bad-ink: #ffb4b4; --bad-ground: #431d20; --good-ink: #b5e6c6; --good-ground: #16301f;
  }
}
`;
}

/** The stylesheet of the pages: one column, large targets, no script. `colour` must be readable on white. */
export function stylesheet(colour: string): string {
  return `${palette(colour)}@media (prefers-contrast: more) {
  :root { --soft: var(--ink); --line: var(--ink); }
  .notice { outline: 1px solid currentColor; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
.school, .help { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1rem .5rem; color: var(--soft); }
.school { display: flex; align-items: center; gap: .75rem; font-weight: 600; }
.school img { display: block; height: 2rem; max-width: 40%; object-fit: contain; }
.help { padding-block: 0 2rem; font-size: .875rem; }
.help a { display: inline-block; padding-block: .25rem; color: inherit; }
main { max-width: 34rem; margin: 0 auto 1rem; padding: 1.5rem 1rem; background: var(--paper); border: 1px solid var(--line); border-width: 1px 0; }
main > :last-child, main > form:last-child .actions { margin-bottom: 0; }
@media (min-width: 36rem) {
  .school, .help { padding-inline: 2rem; }
  main { padding: 2rem; border-width: 1px; border-radius: .75rem; }
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
h2, legend { font-size: 1rem; font-weight: 600; margin: 0; padding: 0; }
p { margin: 0 0 1rem; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.muted { color: var(--soft); }
.notice { padding: .75rem 1rem; border-inline-start: .25rem solid currentColor; background: var(--warn-ground); color: var(--warn-ink); }
.notice.problem { background: var(--bad-ground); color: var(--bad-ink); font-weight: 600; }
.notice.proof { background: var(--good-ground); color: var(--good-ink); }
.notice small { display: block; font-size: inherit; }
.account { display: flex; flex-wrap: wrap; gap: .25rem 1rem; justify-content: space-between; align-items: baseline; }
.fields label { display: block; margin: 0 0 .25rem; font-weight: 600; }
.fields input:not([type=hidden]) { display: block; width: 100%; min-height: 3rem; margin: 0 0 1rem; padding: .5rem .75rem; font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: .5rem; }
.fields button { background: var(--accent); color: var(--on-accent); }
.providers { margin: 0; padding: 0; list-style: none; display: grid; gap: .75rem; }
.actions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(8rem, 100%), 1fr)); gap: .75rem; margin: 1.5rem 0 1rem; }
.button, button { display: block; width: 100%; min-height: 3rem; padding: .75rem .5rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; color: var(--accent); background: var(--paper); border: 2px solid var(--accent); border-radius: .5rem; cursor: pointer; }
button.go, .button.go { background: var(--accent); color: var(--on-accent); }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: .25rem 0 1rem; font-size: .875rem; }
summary { padding-block: .5rem; min-height: 2.75rem; font-weight: 600; cursor: pointer; }
summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.pager a { display: inline-block; padding-block: .375rem; }
.pager { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: baseline; margin: 0 0 1rem; }
h2.muted { margin-top: 1.5rem; font-size: .875rem; }
dd { margin: 0; min-width: 0; }
[dir=rtl] dd[dir=ltr] { text-align: end; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
main > .way-back { margin: -.25rem 0 0; }
.providers + .way-back { margin-top: 1.5rem; }
.way-back .button, .way-back button { border-color: var(--line); color: var(--ink); }
.retry { margin: 1.5rem 0; }
.copy { margin: 0 0 1rem; }
.copy code { display: block; padding: .75rem 1rem; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; user-select: all; }
h2 + .copy { margin-top: .5rem; }
main details { margin: 0 0 1rem; }
.commands { display: block; }
.commands dt { margin-block-end: .25rem; }
${CONSENT}${CONNECTED_APPS}`;
}

/**
 * The consent page, laid out so that an app with six scopes fits on a phone. The buttons stay at the bottom of the
 * screen unless it is low: a phone held sideways, or a page at 200 % zoom. `scroll-padding` keeps the focus above them
 * (WCAG 2.2 success criterion 2.4.11).
 */
const CONSENT = `
#consent { padding-top: .875rem; }
#consent h1 { margin: 0; font-size: 1.25rem; }
.asking { display: flex; gap: .75rem; align-items: flex-start; margin-bottom: .375rem; }
.asking .mark { flex: none; width: 2.5rem; height: 2.5rem; }
#consent .account, .destination, .destination + .fine { margin-bottom: .25rem; }
#consent .account { font-size: .875rem; }
#consent .notice { margin-block: .375rem .5rem; padding: .5rem .75rem; font-size: .875rem; line-height: 1.4; }
#consent .notice.problem { font-weight: inherit; }
.notice small { display: block; font-size: inherit; }
.fine { margin-bottom: .5rem; font-size: .875rem; color: var(--soft); }
.links { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 0 0 .5rem; padding: 0; list-style: none; font-size: .875rem; }
.links a { display: inline-block; padding-block: .25rem; }
fieldset { min-width: 0; margin: 0 0 .75rem; padding: 0; border: 0; }
fieldset.write { padding: 0 .75rem; border: 1px solid var(--warn-ink); border-radius: .5rem; }
fieldset.write legend { padding-inline: .375rem; margin-inline-start: -.375rem; color: var(--warn-ink); }
fieldset.write p { margin: 0; font-size: .875rem; color: var(--soft); }
.scope { display: flex; gap: .75rem; align-items: flex-start; padding: .375rem 0; min-height: 2.25rem; }
.scope input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.scope span { min-width: 0; }
.scope small { margin-inline-start: .25rem; font-size: .8125rem; color: var(--soft); }
.scope.always::before { flex: none; width: 1.5rem; text-align: center; color: var(--soft); content: "✓" / ""; }
.list .scope { border-top: 1px solid var(--line); }
fieldset:has([name=reads][value=none]:checked) .list { display: none; }
.codes { margin: 0 0 .5rem; padding: 0; list-style: none; }
.codes li { padding-block: .25rem; border-top: 1px solid var(--line); }
.codes code { display: block; color: var(--ink); }
@media (max-width: 36rem) { .school:has(+ #consent) { padding-block: .75rem .5rem; } }
@media (min-height: 30rem) {
  #consent { padding-bottom: 0; }
  html:has(#consent) { scroll-padding-block-end: 6rem; }
  #consent .actions { position: sticky; inset-block-end: 0; margin: 0 -1rem; padding: .625rem 1rem; background: var(--paper); border-top: 1px solid var(--line); }
}
@media (min-height: 30rem) and (min-width: 36rem) {
  #consent .actions { margin-inline: -2rem; padding-inline: 2rem; border-radius: 0 0 .75rem .75rem; }
}
`;

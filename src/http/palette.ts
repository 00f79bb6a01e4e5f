import { inkOn, readableOn } from './colour.ts';

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

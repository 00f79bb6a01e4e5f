import { PALETTES, type Palette, type Scheme } from './palette.ts';

/** What is sent from one participant to another, or with `from` = `to`, what a participant does. */
export interface Step {
  readonly from: string;
  readonly to: string;
  /** One line, or two. */
  readonly label: readonly string[];
}

export interface Sequence {
  /** The file, without scheme and ending. */
  readonly name: string;
  /** Shows it, and says the same in a list. */
  readonly page: string;
  readonly title: string;
  /** The picture in words, for people who do not see it. */
  readonly description: string;
  /** From left to right. `coursegate` is drawn as ours. */
  readonly participants: readonly string[];
  readonly steps: readonly Step[];
}

/** Distances in units of the picture, which are CSS pixels at full size. */
const LANE = 176;
const SIDE = 84;
const TOP = 16;
const HEAD = { width: 156, height: 36 } as const;
const FIRST = TOP + HEAD.height + 14;
const LINE = 15;
const GAP = 20;

/** Draws a sequence diagram. Steps are numbered from 1, as in the list below the picture. */
export function sequenceSvg(sequence: Sequence, scheme: Scheme): string {
  const colors = PALETTES[scheme];
  const { participants, steps, name, title, description } = sequence;
  const x = new Map(participants.map((participant, at) => [participant, SIDE + at * LANE]));
  const width = SIDE * 2 + (participants.length - 1) * LANE;
  let y = FIRST;
  const drawn = steps.map((step, at) => {
    y += step.label.length * LINE + GAP;
    return stepSvg(step, at + 1, [placeOf(step.from), placeOf(step.to)], y, colors);
  });
  const height = y + 28;
  const lanes = participants.map((participant) => laneSvg(participant, placeOf(participant), height, colors));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title text" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="13">
<title id="title">${title}</title>
<desc id="text">${description}</desc>
<defs><marker id="head-${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="${colors.soft}"/></marker></defs>
<rect width="${width}" height="${height}" rx="10" fill="${colors.page}"/>
${lanes.join('\n')}
${drawn.map((svg) => svg.replaceAll('url(#head)', `url(#head-${name})`)).join('\n')}
</svg>
`;

  function placeOf(participant: string): number {
    const place = x.get(participant);
    if (place === undefined) throw new Error(`${name}: ${participant} is not among the participants`);
    return place;
  }
}

function laneSvg(participant: string, x: number, height: number, colors: Palette): string {
  const ours = participant === 'coursegate';
  return [
    `<path d="M${x} ${TOP + HEAD.height}V${height - 12}" stroke="${colors.line}" stroke-dasharray="4 4"/>`,
    `<rect x="${x - HEAD.width / 2}" y="${TOP}" width="${HEAD.width}" height="${HEAD.height}" rx="8" fill="${ours ? colors.ours : colors.box}" stroke="${ours ? colors.accent : colors.line}"/>`,
    `<text x="${x}" y="${TOP + 23}" text-anchor="middle" fill="${colors.ink}" font-size="14" font-weight="600">${participant}</text>`,
  ].join('\n');
}

/** The label is above the arrow, and what a participant does is at the right of its line. */
function stepSvg(
  step: Step,
  number: number,
  [from, to]: readonly [number, number],
  y: number,
  colors: Palette,
): string {
  const alone = from === to;
  const direction = Math.sign(to - from) || 1;
  const middle = alone ? from + 18 : (from + to) / 2;
  const first = alone ? y - ((step.label.length - 1) * LINE) / 2 + 4 : y - 8 - (step.label.length - 1) * LINE;
  const texts = step.label.map(
    (line, at) =>
      `<text x="${middle}" y="${first + at * LINE}" text-anchor="${alone ? 'start' : 'middle'}" fill="${colors.ink}" stroke="${colors.page}" stroke-width="5" stroke-linejoin="round" paint-order="stroke">${escaped(line)}</text>`,
  );
  const arrow = alone
    ? []
    : [
        `<path d="M${from + direction * 11} ${y}H${to - direction}" fill="none" stroke="${colors.soft}" stroke-width="1.5" marker-end="url(#head)"/>`,
      ];
  return [
    ...texts,
    ...arrow,
    `<circle cx="${from}" cy="${y}" r="10" fill="${colors.page}" stroke="${colors.accent}" stroke-width="1.5"/>`,
    `<text x="${from}" y="${y + 4}" text-anchor="middle" fill="${colors.ink}" font-size="11" font-weight="600">${number}</text>`,
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

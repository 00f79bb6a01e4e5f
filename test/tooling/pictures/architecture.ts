/** The architecture picture of README.md, in a light and a dark version. */

import { PALETTES, type Palette, type Scheme } from './palette.ts';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly lines?: readonly string[];
  readonly fill: keyof Palette;
  readonly stroke: keyof Palette;
}

const BOXES: readonly Box[] = [
  {
    x: 10,
    y: 10,
    width: 275,
    height: 62,
    title: 'App or assistant',
    lines: ['Claude, ChatGPT, any OAuth client'],
    fill: 'box',
    stroke: 'line',
  },
  {
    x: 335,
    y: 10,
    width: 275,
    height: 62,
    title: 'Member’s browser',
    lines: ['with the login they already have'],
    fill: 'box',
    stroke: 'line',
  },
  { x: 10, y: 150, width: 600, height: 182, title: '', fill: 'ours', stroke: 'accent' },
  {
    x: 26,
    y: 186,
    width: 178,
    height: 104,
    title: 'Gate',
    lines: ['one check per token:', 'resource, scope, expiry', 'REST, GraphQL, MCP'],
    fill: 'inside',
    stroke: 'accent',
  },
  {
    x: 221,
    y: 186,
    width: 178,
    height: 104,
    title: 'Authorization server',
    lines: ['registration, consent,', 'tokens, revocation,', 'connected apps'],
    fill: 'inside',
    stroke: 'accent',
  },
  {
    x: 416,
    y: 186,
    width: 178,
    height: 104,
    title: 'Site pass-through',
    lines: ['everything else,', 'unchanged'],
    fill: 'inside',
    stroke: 'accent',
  },
  { x: 10, y: 410, width: 600, height: 104, title: '', fill: 'box', stroke: 'line' },
  {
    x: 26,
    y: 446,
    width: 178,
    height: 54,
    title: 'REST and GraphQL',
    lines: ['services'],
    fill: 'inside',
    stroke: 'line',
  },
  {
    x: 221,
    y: 446,
    width: 178,
    height: 54,
    title: 'Accounts and login',
    lines: ['cookies, passwords'],
    fill: 'inside',
    stroke: 'line',
  },
  {
    x: 416,
    y: 446,
    width: 178,
    height: 54,
    title: 'Pages',
    lines: ['as they are today'],
    fill: 'inside',
    stroke: 'line',
  },
];

interface Arrow {
  readonly from: readonly [x: number, y: number];
  readonly to: readonly [x: number, y: number];
  readonly label: readonly string[];
  /** Which side of the arrow the label is on. */
  readonly side: 'left' | 'right';
}

const ARROWS: readonly Arrow[] = [
  { from: [60, 72], to: [60, 150], label: ['Bearer token'], side: 'right' },
  { from: [255, 72], to: [255, 150], label: ['OAuth 2.0'], side: 'left' },
  { from: [365, 72], to: [365, 150], label: ['sign in,', 'approve'], side: 'right' },
  { from: [540, 72], to: [540, 150], label: ['the site'], side: 'left' },
  { from: [115, 332], to: [115, 410], label: ['request with', 'signed member id'], side: 'right' },
  { from: [310, 332], to: [310, 410], label: ['who is', 'signed in?'], side: 'right' },
  { from: [505, 332], to: [505, 410], label: ['as it came'], side: 'right' },
];

/** @returns the SVG, which says in its title and description what it shows. */
export function architectureSvg(scheme: Scheme): string {
  const colors = PALETTES[scheme];
  const boxes = BOXES.map((box) => boxSvg(box, colors));
  const arrows = ARROWS.map((arrow) => arrowSvg(arrow, colors));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 524" width="620" height="524" role="img" aria-labelledby="title text" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="14">
<title id="title">coursegate between apps, members and the course site</title>
<desc id="text">An app sends OAuth requests to the authorization server and Bearer tokens to the gate. Members sign in and approve in their browser. The gate forwards admitted requests to the site's services with a signed member id; the authorization server asks the site who is signed in; all other requests pass through unchanged.</desc>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="${colors.soft}"/></marker></defs>
${boxes.join('\n')}
${headingSvg(26, 174, 'coursegate', 'one process beside your site', colors)}
${centered(310, 316, 'Store: one SQLite file, or Redis', colors.soft, 13)}
${headingSvg(26, 434, 'Your course site', 'as it runs today', colors)}
${arrows.join('\n')}
</svg>
`;
}

function boxSvg({ x, y, width, height, title, lines = [], fill, stroke }: Box, colors: Palette): string {
  const middle = x + width / 2;
  const top = y + height / 2 - (lines.length * 19) / 2 + 5;
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="10" fill="${colors[fill]}" stroke="${colors[stroke]}"/>`,
    ...(title === '' ? [] : [centered(middle, top, title, colors.ink, 14, 600)]),
    ...lines.map((line, at) => centered(middle, top + 19 * (at + 1), line, colors.soft, 13)),
  ].join('\n');
}

function arrowSvg({ from, to, label, side }: Arrow, colors: Palette): string {
  const x = from[0] + (side === 'right' ? 9 : -9);
  const anchor = side === 'right' ? 'start' : 'end';
  const y = (from[1] + to[1]) / 2 + 1;
  const texts = label.map(
    (line, at) =>
      `<text x="${x}" y="${y + 17 * (at - (label.length - 1) / 2)}" text-anchor="${anchor}" fill="${colors.ink}" font-size="13">${line}</text>`,
  );
  const path = `<path d="M${from[0]} ${from[1]}V${to[1] - 1}" fill="none" stroke="${colors.soft}" stroke-width="1.5" marker-end="url(#head)"/>`;
  return [path, ...texts].join('\n');
}

function headingSvg(x: number, y: number, title: string, rest: string, colors: Palette): string {
  return `<text x="${x}" y="${y}" fill="${colors.ink}" font-size="16" font-weight="700">${title}<tspan fill="${colors.soft}" font-size="13" font-weight="400" dx="9">${rest}</tspan></text>`;
}

function centered(x: number, y: number, text: string, fill: string, size: number, weight = 400): string {
  return `<text x="${x}" y="${y}" text-anchor="middle" fill="${fill}" font-size="${size}" font-weight="${weight}">${text}</text>`;
}

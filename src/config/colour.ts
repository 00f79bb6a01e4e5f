/** WCAG 2.2 success criterion 1.4.3: what text must differ from its ground by. */
export const READABLE = 4.5;

const BLACK = '#000000';
const WHITE = '#ffffff';
const STEPS = 100;

/** The WCAG contrast ratio of two colours, 1 to 21. In: colours as `#rrggbb`. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The colour itself when it reads on `ground` with `wanted` contrast, else the nearest to it of the same hue that does. */
export function readableOn(colour: string, ground: string, wanted = READABLE): string {
  const towards = inkOn(ground);
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(colour, towards, step / STEPS);
    if (contrast(mixed, ground) >= wanted) return mixed;
  }
  return towards;
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(colour: string): string {
  return contrast(WHITE, colour) >= contrast(BLACK, colour) ? WHITE : BLACK;
}

function channels(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(colour: string, other: string, share: number): string {
  const towards = channels(other);
  const mixed = channels(colour).map((channel, index) =>
    Math.round(channel + ((towards[index] ?? 0) - channel) * share),
  );
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

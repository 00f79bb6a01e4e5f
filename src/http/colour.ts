/** The colour of the pages, unless the operator chooses another. */
export const USUAL_COLOUR = '#0b57d0';
/** Contrast ratio that text needs against its background (WCAG 2.2 success criterion 1.4.3). */
export const READABLE = 4.5;

const BLACK = '#000000';
const WHITE = '#ffffff';
const STEPS = 100;

/** The WCAG contrast ratio of two colours given as `#rrggbb`: 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/**
 * Returns the colour itself if it has the `wanted` contrast on the background `ground`, otherwise the nearest darker or
 * lighter colour of the same hue and saturation that does.
 */
export function readableOn(colour: string, ground: string, wanted = READABLE): string {
  const towards = inkOn(ground);
  const { hue, saturation, lightness } = toHsl(colour);
  const goal = towards === BLACK ? 0 : 1;
  for (let step = 0; step < STEPS; step += 1) {
    const shade = step === 0 ? colour : fromHsl(hue, saturation, lightness + ((goal - lightness) * step) / STEPS);
    if (contrast(shade, ground) >= wanted) return shade;
  }
  return towards;
}

/** Black or white, whichever has more contrast on a colour. */
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

/** Hue in sixths of the circle; saturation and lightness from 0 to 1 (CSS Color 4 section 7). */
function toHsl(colour: string): { hue: number; saturation: number; lightness: number } {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => channel / 255);
  const most = Math.max(red, green, blue);
  const span = most - Math.min(red, green, blue);
  const lightness = most - span / 2;
  if (span === 0) return { hue: 0, saturation: 0, lightness };
  const saturation = span / (1 - Math.abs(2 * lightness - 1));
  if (most === red) return { hue: ((green - blue) / span + 6) % 6, saturation, lightness };
  return { hue: most === green ? (blue - red) / span + 2 : (red - green) / span + 4, saturation, lightness };
}

function fromHsl(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const parts = [0, 8, 4].map((offset) => {
    const place = (offset + hue * 2) % 12;
    const part = lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1));
    return Math.round(part * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${parts.join('')}`;
}

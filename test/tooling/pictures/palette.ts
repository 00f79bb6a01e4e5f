/** The colours of the drawn pictures, in a light and a dark version. */

export const SCHEMES = ['light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];

export interface Palette {
  readonly page: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly box: string;
  readonly ours: string;
  readonly inside: string;
  readonly accent: string;
}

/** GitHub's background is white or #0d1117, the site's is `page`. */
export const PALETTES: Readonly<Record<Scheme, Palette>> = {
  light: {
    page: '#ffffff',
    ink: '#16211f',
    soft: '#4d5c59',
    line: '#8a9a97',
    box: '#f4f6f6',
    ours: '#e3f1ef',
    inside: '#ffffff',
    accent: '#0f766e',
  },
  dark: {
    page: '#101615',
    ink: '#e7eeec',
    soft: '#b4c2bf',
    line: '#6d7d7a',
    box: '#19211f',
    ours: '#12302c',
    inside: '#0f1c1a',
    accent: '#5eead4',
  },
};

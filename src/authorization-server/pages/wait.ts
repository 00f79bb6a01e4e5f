/** Formats a wait such as `9 minutes`, rounded up. */
export function waitIn(locales: readonly string[], seconds: number): string {
  const [value, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat(locales, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

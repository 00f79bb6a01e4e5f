/** `1 grant`, `2,000 grants` */
export function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en-GB')} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats a number of bytes, which may be Infinity, for people: `10 MiB`. */
export function sizeText(bytes: number): string {
  for (const [unit, of] of [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
  ] as const) {
    if (bytes >= of && bytes % of === 0) return `${bytes / of} ${unit}`;
  }
  return `${bytes} bytes`;
}

/** `1 grant`, `2,000 grants` */
export function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en-GB')} ${noun}${number === 1 ? '' : 's'}`;
}

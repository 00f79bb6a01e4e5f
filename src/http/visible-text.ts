/**
 * Text of a stranger for a terminal, a page or a mail: control, bidirectional and zero-width characters, and lone
 * surrogates, become U+FFFD. They could act as escape sequences, or make the text look like another one.
 */
export function visibleText(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

/** Lower case, without accents: for searches. */
export function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

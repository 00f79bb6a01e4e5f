/**
 * Decodes every valid escape, as PHP does, including IIS' `%u005F`; the rest is kept. Each byte becomes one character.
 */
export function decodedOnce(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, wide?: string, byte?: string) =>
    String.fromCharCode(Number.parseInt(wide ?? byte ?? '', 16)),
  );
}

/** What servers in a row could read: the text decoded once, twice and three times. */
export function decodings(text: string): readonly string[] {
  const levels: string[] = [];
  for (let level = text; levels.length < 3 && level.includes('%'); ) {
    level = decodedOnce(level);
    levels.push(level);
  }
  return levels;
}

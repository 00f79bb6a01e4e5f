/**
 * Decodes every valid escape, as PHP does, including IIS' `%u005F`; the rest is kept. Each byte becomes one character.
 */
export function decodedOnce(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, wide?: string, byte?: string) =>
    String.fromCharCode(Number.parseInt(wide ?? byte ?? '', 16)),
  );
}

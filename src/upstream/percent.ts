/** Decodes what can be decoded, as PHP does, and IIS' `%u005F`; the rest stays. Bytes become one character each. */
export function decodedOnce(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, wide?: string, byte?: string) =>
    String.fromCharCode(Number.parseInt(wide ?? byte ?? '', 16)),
  );
}

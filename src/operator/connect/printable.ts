/** Control and bidirectional characters, which could move the cursor or reorder text in a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the purpose
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const LONGEST = 300;

/** Makes text from a server safe for one terminal line: control characters become '?', long text is truncated. */
export function printable(text: string): string {
  const clean = text.replace(UNPRINTABLE, '?');
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean;
}

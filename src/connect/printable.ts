/** Control and bidirectional characters: a server's text must not move the cursor or reorder what a terminal shows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const LONGEST = 300;

/** Text of a server, made safe for one line of a terminal: control characters become '?', long text is cut. */
export function printable(text: string): string {
  const clean = text.replace(UNPRINTABLE, '?');
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}…` : clean;
}

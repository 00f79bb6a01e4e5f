const LONGEST = 64;

/** Controls, lone surrogates, private use, unassigned, line breaks, and all that is not seen but for emoji styles. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?![\uFE00-\uFE0F])\p{Default_Ignorable_Code_Point}/u;
const PILED_MARKS = /\p{M}{5,}/u;
const BLANK = /^(?:[\s\u2800]|[\uFE00-\uFE0F])*$/u;

/**
 * What a member reads on the consent page is what was registered, so a name that could look like another text than it
 * is (bidirectional controls, zero-width characters) is refused, not cleaned: an app's author sees why.
 * In: `client_name` in NFC. Out: what is wrong with it.
 */
export function clientNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be text';
  if ([...name].length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (UNSEEN.test(name)) return 'must hold no control, bidirectional or zero-width characters';
  if (PILED_MARKS.test(name)) return 'must not pile accents';
  if (BLANK.test(name)) return 'must be more than blanks';
  return undefined;
}

const LONGEST = 64;

/**
 * Control characters, lone surrogates, private use, unassigned, line breaks, and invisible characters except variation
 * selectors, which emoji use.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?![\uFE00-\uFE0F])\p{Default_Ignorable_Code_Point}/u;
const PILED_MARKS = /\p{M}{5,}/u;
const BLANK = /^(?:[\s\u2800]|[\uFE00-\uFE0F])*$/u;

/**
 * Checks `client_name`, which members read on the consent page. A name that could pretend to be another text
 * (bidirectional controls, zero-width characters) is refused, not cleaned, so that the app's author sees why.
 * @param name - in NFC
 * @returns what is wrong with it; undefined if nothing
 */
export function clientNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be text';
  if ([...name].length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (UNSEEN.test(name)) return 'must hold no control, bidirectional or zero-width characters';
  if (PILED_MARKS.test(name)) return 'must not pile accents';
  if (BLANK.test(name)) return 'must be more than blanks';
  return undefined;
}

import type { BodyScan, OverrideCheck } from './body-scan.ts';
import { isOnlySeparators, methodOf, overrideName } from './names.ts';

/** Characters of a name that are examined. `_method`, encoded three times, is far shorter. */
const LONGEST_NAME = 1024;
/** Maximum length of one separator, encoded three times. */
const LONGEST_ESCAPE = 64;
/** Maximum length of an override's value; a method is shorter. */
const LONGEST_VALUE = 64;

const AND = 0x26;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;

/**
 * Reads `application/x-www-form-urlencoded` chunk by chunk. `;` separates pairs like `&` does: some servers read it so,
 * and no override name contains one.
 */
export function formScan(check: OverrideCheck): BodyScan {
  let name = '';
  let value: string | undefined;
  let inName = true;

  const checkName = () => {
    if (name === '') return;
    const kind = overrideName(name);
    if (kind === 'hidden') check(undefined);
    if (kind !== 'none') value = '';
  };
  const endPair = () => {
    if (inName) checkName();
    if (value !== undefined) check(methodOf(value));
    name = '';
    value = undefined;
    inName = true;
  };
  const take = (chunk: Buffer, from: number, to: number) => {
    if (inName) name = shortened(name + chunk.toString('latin1', from, to));
    else if (value !== undefined) {
      value += chunk.toString('latin1', from, to);
      if (value.length > LONGEST_VALUE) check(undefined);
    }
  };

  return {
    push(chunk) {
      let from = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (byte === AND || byte === SEMICOLON) {
          if (at > from) take(chunk, from, at);
          endPair();
        } else if (byte === EQUALS && inName) {
          if (at > from) take(chunk, from, at);
          checkName();
          inName = false;
        } else continue;
        from = at + 1;
      }
      if (from < chunk.length) take(chunk, from, chunk.length);
    },
    end: endPair,
    undecided: () => value !== undefined,
  };
}

/** The beginning of a name. Any number of separators before it becomes one. */
function shortened(name: string): string {
  let text = name;
  while (text.length > LONGEST_NAME) {
    // Never cut in the middle of an escape, however often it was encoded.
    const percent = text.indexOf('%', LONGEST_NAME - LONGEST_ESCAPE);
    const end = percent === -1 || percent > LONGEST_NAME ? LONGEST_NAME : percent;
    if (!isOnlySeparators(text.slice(0, end))) return text.slice(0, LONGEST_NAME);
    text = `_${text.slice(end)}`;
  }
  return text;
}

import { type BodyScan, type OverrideCheck, unreadable } from './body-scan.ts';
import { methodOf, overrideName } from './names.ts';

/** Maximum size in bytes of the header fields of one part. */
const LONGEST_HEAD = 16 * 1024;
/** Maximum size in bytes of an override's value; a method is shorter. */
const LONGEST_VALUE = 64;

const HEAD_END = Buffer.from('\r\n\r\n');
const FIELD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7E\x80-\xFF]*$/;
const DISPOSITION = /^[ \t]*[a-z-]+(?:[ \t]*;[ \t]*[a-z0-9*-]+=(?:"(?:[^"\\]|\\.)*"|[^\s;",]+))*[ \t]*;?[ \t]*$/i;

/**
 * Reads `multipart/*` (RFC 2046, RFC 7578) chunk by chunk and checks the names of the parts; their contents are
 * skipped. Parsers disagree on everything irregular (folded lines, bare line feeds, a second `name`, `name*`, encoded
 * words, a boundary in the middle of a line, text before the first part), so all of that is refused.
 */
export function multipartScan(boundary: string, isForm: boolean, check: OverrideCheck): BodyScan {
  const delimiter = Buffer.from(`--${boundary}`);
  let state: 'start' | 'head' | 'content' | 'value' | 'after' = 'start';
  let rest: Buffer = Buffer.alloc(0);

  /** Takes one step; returns false if more bytes are needed. */
  const step = (): boolean => {
    if (state === 'after') {
      if (/[^\r\n\t ]/.test(rest.toString())) throw unreadable('something follows its last part');
      rest = rest.subarray(rest.length);
      return false;
    }
    if (state === 'head') return head();
    const found = rest.indexOf(delimiter);
    if (found === -1) return more();
    const inFront = rest.toString('latin1', 0, found);
    if (state === 'start' ? inFront !== '' && inFront !== '\r\n' : !inFront.endsWith('\r\n'))
      throw unreadable('its boundary is not at the beginning of a line');
    const end = found + delimiter.length;
    if (rest.length < end + 2) {
      if (state !== 'value') rest = rest.subarray(Math.max(0, found - 2));
      return false;
    }
    if (state === 'value') check(methodOf(inFront.slice(0, -2)));
    const behind = rest.toString('latin1', end, end + 2);
    if (behind !== '\r\n' && behind !== '--') throw unreadable('its boundary is followed by something else');
    state = behind === '--' ? 'after' : 'head';
    rest = rest.subarray(end + 2);
    return true;
  };

  const more = (): boolean => {
    if (state === 'start' && rest.length > delimiter.length + 2)
      throw unreadable('it does not begin with its boundary');
    if (state === 'value') {
      if (rest.length > LONGEST_VALUE + delimiter.length) check(undefined);
    } else if (state === 'content') rest = rest.subarray(Math.max(0, rest.length - delimiter.length - 2));
    return false;
  };

  const head = (): boolean => {
    const end = rest.indexOf(HEAD_END);
    if (end > LONGEST_HEAD || (end === -1 && rest.length > LONGEST_HEAD))
      throw unreadable('a part has too long a head');
    if (end === -1) return false;
    const fields = rest.toString('latin1', 0, end);
    if (fields.includes(`--${boundary}`)) throw unreadable('a part has no content');
    state = isOverridePart(fields, isForm, check) ? 'value' : 'content';
    rest = rest.subarray(end + HEAD_END.length);
    return true;
  };

  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (step());
    },
    end() {
      if (state !== 'after') throw unreadable('it is incomplete');
    },
    undecided: () => state === 'head' || state === 'value',
  };
}

/** Whether the content of the part with these header fields is the value of an override. */
function isOverridePart(head: string, isForm: boolean, check: OverrideCheck): boolean {
  const lines = head.split('\r\n');
  if (!lines.every((line) => FIELD.test(line))) throw unreadable('a part has a malformed field');
  const valuesOf = (name: string) =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim());
  const dispositions = valuesOf('content-disposition');
  const ids = valuesOf('content-id');
  const [disposition = ''] = dispositions;
  const named = [...disposition.matchAll(/(?<![a-z0-9])name([^=;"]*)=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;",]*)/gi)];
  if (isForm && named.length === 0) throw unreadable('a part has no name');
  if (dispositions.length > 1 || ids.length > 1 || named.length > 1 || named[0]?.[1])
    throw unreadable('a part has more than one name');
  if (dispositions.length === 1 && !DISPOSITION.test(disposition)) throw unreadable('a part has a malformed name');
  const name = unquoted(named[0]?.[2] ?? '');
  const files = name === '' ? [...disposition.matchAll(/filename[^=;"]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;",]*)/gi)] : [];
  // Without a name, Rack uses the Content-ID, else the file name, else the type.
  const others = name === '' ? [...ids, ...files.map(([, file = '']) => file), ...valuesOf('content-type')] : [];
  const names = [name, ...others.map((other) => unquoted(other.replace(/[<>]/g, '')))];
  // Java decodes encoded words (RFC 2047) in names.
  if (names.some((one) => one.includes('=?'))) throw unreadable('a part has an encoded name');
  const kinds = names.flatMap((one) => [overrideName(one), overrideName(one.replaceAll('\\', ''))]);
  if (kinds.every((kind) => kind === 'none')) return false;
  // With a content type or a transfer encoding of its own, the part's value may not be what it looks like.
  if (kinds.includes('hidden') || lines.length > 1) check(undefined);
  return true;
}

function unquoted(value: string): string {
  return value.replace(/^["']|["']$/g, '');
}

import { invalidRequest } from '../errors.ts';

export interface FieldBounds {
  /** The names that are allowed; all of them if omitted. */
  readonly known?: readonly string[];
  /** Characters of a value. */
  readonly longest: number;
}

const MOST = 500;
const LONGEST_NAME = 200;
const LONGEST_PARAM = 2048;

/**
 * The fields of a query or a form, in which no name may be repeated: there is no telling which of its values counts.
 * Throws GatewayError `invalid_request`.
 */
export function readFields(encoded: string, { known, longest }: FieldBounds): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null);
  let count = 0;
  for (const [name, value] of new URLSearchParams(encoded)) {
    count += 1;
    if (count > MOST || !isPlainText(name, LONGEST_NAME))
      throw invalidRequest(
        'The request has too many parameters, or one whose name is too long or contains control characters.',
      );
    if (known?.includes(name) === false) throw invalidRequest(`Unknown parameter "${name}".`);
    if (name in fields) throw invalidRequest(`The parameter "${name}" must not be repeated.`);
    if (!isPlainText(value, longest))
      throw invalidRequest(`The parameter "${name}" is too long or contains control characters.`);
    fields[name] = value;
  }
  return fields;
}

/** The query of a request target, without its question mark. */
export function queryOf(target = ''): string {
  const at = target.indexOf('?');
  return at < 0 ? '' : target.slice(at + 1);
}

/**
 * The parameters of a path, which are percent-decoded already. Ids are opaque, and may be URLs. Throws GatewayError
 * `invalid_request`.
 */
export function readParams(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const given = Object.entries(params).map(([name, value]) => [name, String(value)] as const);
  if (!given.every(([, value]) => isPlainText(value, LONGEST_PARAM)))
    throw invalidRequest('The id in the path is too long or contains control characters.');
  return Object.fromEntries(given);
}

/** Whether a text has at most so many characters, and no control characters. */
function isPlainText(text: string, longest: number): boolean {
  return text.length <= longest && !/\p{Cc}/u.test(text);
}

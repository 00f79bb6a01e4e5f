import { GatewayError } from '../../errors.ts';

const LONGEST_QUERY = 4096;
/** Bytes of a form: the widest one lists the routes that observe mode proposes. */
export const LONGEST_FORM = 64 * 1024;
const MOST_FIELDS = 500;
const LONGEST_NAME = 200;
const LONGEST_VALUE = 8192;
/** Client identifiers may be URLs. */
const LONGEST_PARAM = 2048;

/** The fields of a query or a form. Throws `invalid_request` for a repeated name, control characters or too much. */
export function readFields(encoded: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null);
  let count = 0;
  for (const [name, value] of new URLSearchParams(encoded)) {
    count += 1;
    if (count > MOST_FIELDS || name.length > LONGEST_NAME || value.length > LONGEST_VALUE)
      throw invalid('The request has too many fields, or one that is too long.');
    if (name in fields) throw invalid('The request repeats a field.');
    // A text area sends line breaks.
    if (/\p{Cc}/u.test(name) || /(?![\t\r\n])\p{Cc}/u.test(value))
      throw invalid('The request contains control characters.');
    fields[name] = value;
  }
  return fields;
}

/** Throws `invalid_request`. */
export function readQuery(query: string): Readonly<Record<string, string>> {
  if (query.length > LONGEST_QUERY) throw invalid('The query is too long.');
  return readFields(query);
}

/** Bounds the parameters of a path, which are percent-decoded already. Throws `invalid_request`. */
export function checkedParams(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const checked: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(params)) {
    const text = String(value);
    if (text.length > LONGEST_PARAM || /\p{Cc}/u.test(text))
      throw invalid('The address is too long or contains control characters.');
    checked[name] = text;
  }
  return checked;
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}

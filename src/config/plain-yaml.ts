import { parse, stringify } from 'yaml';
import { DOCUMENT_BOUNDS, JsonTooLarge, parseBoundedJson } from '../http/bounded-json.ts';

/** Characters. As much as `upstreams.*.openapi.file` may have. */
const LONGEST = 4 * 1024 ** 2;

/**
 * Parses YAML or JSON that is not coursegate configuration, in linear time. The last of two equal keys counts.
 *
 * @throws the parser's error, and an error that names the limit for text that is too large or too deep
 */
export function readPlainYaml(text: string): unknown {
  if (text.length > LONGEST) throw new Error('The document has more than 4 MiB.');
  try {
    // Far faster than the parser for YAML, which takes JSON too.
    return parseBoundedJson(text, DOCUMENT_BOUNDS);
  } catch (thrown) {
    if (thrown instanceof JsonTooLarge) throw new Error(`The document ${thrown.message}.`);
  }
  try {
    return parse(text, { maxAliasCount: 100, uniqueKeys: false });
  } catch (thrown) {
    const said = thrown instanceof Error ? thrown.message : '';
    if (/^Maximum call stack/.test(said)) throw new Error('The document is nested too deeply.');
    if (/^Excessive alias count/.test(said)) throw new Error('The document refers too often to its own parts.');
    throw thrown;
  }
}

/** Writes plain data as YAML for a person to edit. */
export function writePlainYaml(value: unknown): string {
  return stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });
}

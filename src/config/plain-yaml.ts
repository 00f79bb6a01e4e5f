import { parse, stringify } from 'yaml';

/**
 * Parses YAML or JSON that is not coursegate configuration.
 *
 * @throws the parser's error
 */
export function readPlainYaml(text: string): unknown {
  return parse(text, { maxAliasCount: 100 });
}

/** Writes plain data as YAML for a person to edit. */
export function writePlainYaml(value: unknown): string {
  return stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });
}

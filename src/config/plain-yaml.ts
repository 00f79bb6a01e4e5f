import { parse, stringify } from 'yaml';

/** Reads a YAML or JSON text that is no configuration of ours. Throws with what is wrong about it. */
export function readPlainYaml(text: string): unknown {
  return parse(text, { maxAliasCount: 100 });
}

/** Writes plain data as YAML, for a person to go on with. */
export function writePlainYaml(value: unknown): string {
  return stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });
}

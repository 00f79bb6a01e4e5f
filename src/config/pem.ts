import { reason } from './account-files.ts';
import type { Finding } from './problems.ts';
import type { NamedSecret } from './secrets.ts';
import type { SourceFiles } from './source-files.ts';
import { type Tree, valueAt } from './tree.ts';

/** Labels that a PEM file of each sort must contain. */
export const PEM = {
  authority: /-----BEGIN (TRUSTED )?CERTIFICATE-----/,
  certificate: /-----BEGIN CERTIFICATE-----/,
  key: /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
} as const;

/** Reads the PEM file that a setting names, if any. */
export async function readPem(
  tree: Tree,
  path: Finding['path'],
  label: RegExp,
  files: SourceFiles,
): Promise<NamedSecret> {
  const file = valueAt(tree, path);
  if (typeof file !== 'string' || file === '') return { value: undefined, findings: [] };
  const wrong = (message: string) => ({ value: undefined, findings: [{ path, at: 'value' as const, message }] });
  try {
    const text = await files.text(file);
    return label.test(text) ? { value: text, findings: [] } : wrong(`${file} has no PEM block of the required type`);
  } catch (error) {
    return wrong(`${file} cannot be read: ${reason(error)}`);
  }
}

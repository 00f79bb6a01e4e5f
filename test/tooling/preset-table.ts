import { PRESETS, readPreset } from '../../src/operator/setup/init/preset-file.ts';

const [BEGIN, END] = ['<!-- presets: written by npm run reference -->', '<!-- end of presets -->'];

/** integrations/README.md with its table of presets as their files say. */
export function withPresets(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no place for the table: ${BEGIN}`);
  const rows = PRESETS.map((name) => {
    const { worksWith, dependencies } = readPreset(name);
    return `| [${name}](${name}/) | ${worksWith} | ${dependencies} |`;
  });
  const table = ['| Folder | Works with | Dependencies |', '| --- | --- | --- |', ...rows].join('\n');
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
}

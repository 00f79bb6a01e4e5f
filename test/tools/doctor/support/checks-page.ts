import { CHECKS, THEMES } from '../../../../src/tools/doctor/checks/checks.ts';

/** The text between the markers in docs/doctor.md: every check, by theme. */
export function checksPage(): string {
  return Object.entries(THEMES)
    .map(([theme, title]) => {
      const rows = CHECKS.filter(({ id }) => id.startsWith(`${theme}.`)).map(
        ({ id, title: right, reference, fix, needs }) =>
          `| \`${id}\` | ${cell(right)}${needs.some((need) => REGISTERS.has(need)) ? ' (R)' : ''} | ${cell(reference)} | ${cell(fix)} |`,
      );
      return `### ${title}\n\n| check | what is right | where it stands | what to change |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

/** Facts for which an app must be registered. */
const REGISTERS = new Set(['registration', 'client', 'authorization']);

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('<', '&lt;');

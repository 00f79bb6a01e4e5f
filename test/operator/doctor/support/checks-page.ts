import { BACKEND_CHECKS } from '../../../../src/operator/doctor/backend/checks/checks.ts';
import { BACKEND_THEMES } from '../../../../src/operator/doctor/backend/themes.ts';
import { CHECKS, THEMES } from '../../../../src/operator/doctor/checks/checks.ts';
import { GATEWAY_CHECKS, GATEWAY_THEMES } from '../../../../src/operator/doctor/gateway/checks/checks.ts';

interface Row {
  readonly id: string;
  readonly title: string;
  readonly reference: string;
  readonly fix: string;
  readonly needs?: readonly string[];
}

function tables(checks: readonly Row[], themes: Readonly<Record<string, string>>): string {
  return Object.entries(themes)
    .map(([theme, title]) => {
      const rows = checks
        .filter(({ id }) => id.startsWith(`${theme}.`))
        .map(
          ({ id, title: right, reference, fix, needs = [] }) =>
            `| \`${id}\` | ${cell(right)}${needs.some((need) => REGISTERS.has(need)) ? ' (R)' : ''} | ${cell(reference)} | ${cell(fix)} |`,
        );
      return `### ${title}\n\n| check | what is right | where it stands | what to change |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

/** Facts for which an app must be registered. */
const REGISTERS = new Set(['registration', 'client', 'authorization']);

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('<', '&lt;');

/** The texts between the markers in docs/doctor.md: every check, by theme. */
export const PAGE_PARTS: Readonly<Record<string, string>> = {
  checks: tables(CHECKS, THEMES),
  backend: tables(BACKEND_CHECKS, BACKEND_THEMES),
  attacks: tables(GATEWAY_CHECKS, GATEWAY_THEMES),
};

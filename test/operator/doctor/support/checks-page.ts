import { BACKEND_CHECKS } from '../../../../src/operator/doctor/backend/checks/checks.ts';
import { CHECKS } from '../../../../src/operator/doctor/checks/checks.ts';
import { LISTING_CHECKS, rulesOf } from '../../../../src/operator/doctor/directory/checks/checks.ts';
import { GATEWAY_CHECKS } from '../../../../src/operator/doctor/gateway/checks/checks.ts';
import { checkTexts, themes } from '../../../../src/operator/doctor/texts.ts';

interface Row {
  readonly id: string;
  readonly needs: readonly string[];
}

function tables(checks: readonly Row[], noteOf: (row: Row) => string = () => ''): string {
  return [...Map.groupBy(checks, ({ id }) => id.split('.')[0] ?? '')]
    .map(([theme, ofTheme]) => {
      const rows = ofTheme.map((row) => {
        const { id, needs } = row;
        const { title = '', reference = '', fix = '' } = checkTexts().get(id) ?? {};
        const registers = needs.some((need) => REGISTERS.has(need)) ? ' (R)' : '';
        return `| \`${id}\` | ${cell(title)}${registers}${noteOf(row)} | ${cell(reference)} | ${cell(fix)} |`;
      });
      return `### ${themes().get(theme)?.title}\n\n| check | what is right | where it stands | what to change |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

/** Facts for which an app must be registered. */
const REGISTERS = new Set(['registration', 'client', 'authorization']);

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('*', '\\*').replaceAll('<', '&lt;');

/** The one directory whose rule a check is; nothing if it is a rule of both. */
function onlyOf({ id }: Row): string {
  const applies = (directory: 'claude' | 'openai') => rulesOf(directory).some((rule) => rule.id === id);
  if (applies('claude') && applies('openai')) return '';
  return applies('claude') ? ' (Claude)' : ' (OpenAI)';
}

/** The texts between the markers in docs/doctor.md: every check, by theme. */
export const PAGE_PARTS: Readonly<Record<string, string>> = {
  checks: tables(CHECKS),
  backend: tables(BACKEND_CHECKS),
  attacks: tables(GATEWAY_CHECKS),
  listings: tables(LISTING_CHECKS, onlyOf),
};

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../docs/decisions/', import.meta.url));

interface Decision {
  readonly number: number;
  readonly title: string;
  readonly file: string;
  readonly topic: string;
  /** Whether the anchor above the heading has the same number. */
  readonly anchored: boolean;
  readonly text: string;
}

/** Every decision of every topic, by number. */
export function readDecisions(): readonly Decision[] {
  const files = readdirSync(FOLDER).filter((file) => file !== 'README.md');
  return files.flatMap((file) => decisionsIn(file)).toSorted((one, other) => one.number - other.number);
}

function decisionsIn(file: string): readonly Decision[] {
  const text = readFileSync(FOLDER + file, 'utf8');
  const [, topic = ''] = /^# (.*)$/m.exec(text) ?? [];
  const found = [...text.matchAll(/^(?:<a id="decision-(\d+)"><\/a>\n\n)?## (\d+)\. (.*)$/gm)];
  return found.map(({ 0: heading, 1: anchor, 2: number = '', 3: title = '', index }, at) => ({
    number: Number(number),
    title,
    file,
    topic,
    anchored: anchor === number,
    text: text.slice(index + heading.length, found[at + 1]?.index).trim(),
  }));
}

/** The text of docs/decisions/README.md. */
export function decisionIndex(): string {
  const rows = readDecisions().map(
    ({ number, title, file, topic }) => `| ${number} | [${title}](${file}#decision-${number}) | ${topic} |`,
  );
  return `# Decisions

The table is written by \`npm run reference\` from the pages beside this one; do not edit it here.

Each entry says what was decided and why, where the specification is silent or where another choice was obvious. Numbers
stay: code, tests and issues may refer to "decision 27". To add one, take the next number, add a section to the page of
its topic with the anchor \`decision-N\`, and run \`npm run reference\`. A decision that no longer holds keeps its number and
says which one replaces it.

| | Decision | Topic |
| ---: | --- | --- |
${rows.join('\n')}
`;
}

/** Writes the generated docs: the command reference, and the index of decisions. `npm run reference` */
import { writeFileSync } from 'node:fs';
import { commandReference } from './command-reference.ts';
import { decisionIndex } from './decision-index.ts';

const file = (name: string) => new URL(`../../docs/${name}`, import.meta.url);
writeFileSync(file('reference/commands.md'), await commandReference());
writeFileSync(file('decisions/README.md'), decisionIndex());

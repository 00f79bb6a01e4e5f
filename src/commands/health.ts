import { shellWord } from '../operator/shell-word.ts';
import { type AdminAnswer, adminClient, asJson, type GateFlags } from './admin-client.ts';
import type { Define } from './command.ts';
import { CommandFailure } from './failure.ts';
import { gateOptions } from './operator.ts';
import { schoolWords } from './school-option.ts';

interface HealthFlags extends GateFlags {
  readonly live: boolean;
  readonly json: boolean;
}

export const define: Define = (command, terminal) => {
  const { say, print } = terminal;
  gateOptions(command).action(async ({ live, json, ...flags }: HealthFlags) => {
    const path = live ? '/livez' : '/readyz';
    const gate = await adminClient(flags, terminal, true);
    const answer = await gate.ask(`${path}?verbose`, json ? 'application/json' : 'text/plain');
    if (!isHealth(answer, json)) throw gate.noGate(answer);
    if (json) say(answer.text.trim());
    else print(answer.text);
    if (answer.status !== 200) {
      throw new CommandFailure(`The gate at ${gate.address} is not ${live ? 'alive' : 'ready'}.`, {
        next: `coursegate health ${flags.config === undefined ? `--admin ${gate.address}` : `--config ${shellWord(flags.config)}${schoolWords(flags.school)}`} --json`,
      });
    }
  });
};

/** Whether an answer lists checks, as a gate does. */
function isHealth({ status, text }: AdminAnswer, json: boolean): boolean {
  if (status !== 200 && status !== 503) return false;
  if (json) return Array.isArray((Object(asJson(text)) as { checks?: unknown }).checks);
  return /^\[[+-]\]\w+ (ok|failed)/.test(text) && /^(livez|readyz) check (passed|failed)$/m.test(text);
}

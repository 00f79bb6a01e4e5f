import { counted } from '../../../../http/amounts.ts';
import { objectOf } from '../../../../http/json-object.ts';
import { decidingInput, saysChanging, verbOf } from '../../../../mcp/tool-verbs.ts';
import { jsonObject, strings, text } from '../../answer.ts';
import type { Ask } from '../../ask.ts';
import { checkEach, failure, pass } from '../../finding.ts';
import { listingChecks } from '../listing.ts';
import type { ListedTool } from '../tools.ts';
import { unseen } from '../unseen.ts';

const WRITE_SCOPE = /[:._](write|manage|admin|delete)$/;

/** What the directories ask of each tool and is more than the fit of a value. */
export const TOOL = listingChecks(['tools'], {
  'tool.listed'({ tools, own }) {
    if (tools.length === 0) return failure('no tool is listed');
    const missing = (own?.tools ?? []).filter(({ name }) => tools.every((one) => one.name !== name));
    if (missing.length === 0) return pass(counted(tools.length, 'tool'));
    return unseen(
      'tool.listed',
      `Give an access token with --token for ${missing.map(({ name }) => name).join(', ')}.`,
    );
  },
  async 'tool.truth'({ tools, own, ask, origin }) {
    const methods = await operationMethods(ask, origin);
    return checkEach('nothing that is known of a tool contradicts its hints', tools, (tool) => {
      const { name, annotations } = tool;
      const reads = annotations.readOnlyHint === true;
      const hint = `${name} has readOnlyHint ${reads}`;
      const configured = own?.tools.find((one) => one.name === name)?.annotations.readOnlyHint ?? reads;
      if (configured !== reads) return failure(`${hint}, but its action in the configuration says otherwise`);
      const method = methods.get(plain(name));
      if (method !== undefined && /^(get|head)$/.test(method) !== reads)
        return failure(`${hint}, but the operation of that name is a ${method}`);
      const why = reads ? reasonToWrite(tool) : undefined;
      return why !== undefined && failure(`${name} says that it is read-only, but ${why}`);
    });
  },
  'tool.separate': ({ tools }) =>
    checkEach('no tool can be told to read or to write', tools, ({ name, inputSchema }) => {
      const input = decidingInput(inputSchema);
      return input !== undefined && failure(`${name} reads or writes, as its input ${input} says`);
    }),
});

/** Why a tool that says it is read-only seems to write; undefined if it does not. */
function reasonToWrite({ name, annotations, schemes }: ListedTool): string | undefined {
  if (annotations.destructiveHint === true) return 'also that it is destructive';
  if (saysChanging(name)) return `its name begins with "${verbOf(name)}"`;
  const scope = schemes.flatMap(({ scopes }) => strings(scopes)).find((one) => WRITE_SCOPE.test(one));
  return scope && `it needs ${scope}`;
}

const plain = (name: string) => name.replace(/[^a-z0-9]/gi, '').toLowerCase();

/** The methods of the operations in the site's OpenAPI document, by their plain names; none if there is no document. */
async function operationMethods(ask: Ask, origin: string): Promise<ReadonlyMap<string, string>> {
  const answer = await ask(`${origin}/openapi.json`);
  const paths = objectOf(answer.status === 200 ? jsonObject(answer)?.paths : undefined);
  const operations = Object.values(paths).flatMap((path) => Object.entries(objectOf(path)));
  return new Map(operations.map(([method, one]) => [plain(text(objectOf(one).operationId) ?? ''), method]));
}

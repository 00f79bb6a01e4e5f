import { DECISION_PATHS } from '../../../../decisions/protocol.ts';
import type { AskingGateway } from '../gateway.ts';
import { DECISION_LIMITS, type PluginPlan, type SnippetFile } from '../plugin-plan.ts';
import { part } from '../yaml-template.ts';
import { envoyBootstrap } from './bootstrap.ts';
import { ALWAYS, credentials, REFUSAL_FIELDS, SET_BY_DECISIONS } from './fields.ts';

export const envoy = {
  name: 'envoy',
  title: 'Envoy',
  plugin: 'envoy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** Envoy's static configuration with ext_authz over HTTP. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const asking = part('envoy/ext-authz.yaml', {
    timeout: `${DECISION_LIMITS.answer}s`,
    path: DECISION_PATHS.envoy,
    credentials: credentials(plan),
    set: exactly(SET_BY_DECISIONS),
    refusal: exactly([...REFUSAL_FIELDS, ...ALWAYS]),
    always: exactly(ALWAYS),
  });
  return envoyBootstrap(plan, asking);
}

function exactly(names: readonly string[]): readonly object[] {
  return names.map((exact) => ({ exact }));
}

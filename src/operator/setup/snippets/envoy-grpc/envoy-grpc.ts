import { envoyBootstrap } from '../envoy/bootstrap.ts';
import { credentials } from '../envoy/fields.ts';
import type { AskingGateway } from '../gateway.ts';
import { DECISION_LIMITS, type PluginPlan, type SnippetFile } from '../plugin-plan.ts';
import { part } from '../yaml-template.ts';

export const envoyGrpc = {
  name: 'envoy-grpc',
  title: 'Envoy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** Envoy's static configuration with ext_authz over gRPC. Throws Error if nobody listens for gRPC. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const { grpc } = plan.decisions;
  if (grpc === undefined) throw new Error('This needs `listen.decisions.grpc`, where Envoy asks over gRPC.');
  const timeout = `${DECISION_LIMITS.answer}s`;
  const asking = part('envoy-grpc/ext-authz.yaml', { timeout, credentials: credentials(plan) });
  return envoyBootstrap(plan, { address: grpc, asking, http2: true });
}

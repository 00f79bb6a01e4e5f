import { envoyBootstrap } from '../envoy/bootstrap.ts';
import { credentials } from '../envoy/fields.ts';
import type { AskingGateway } from '../gateway.ts';
import { DECISION_LIMITS, type PluginOptions, type SnippetFile } from '../plugin-options.ts';
import { part } from '../yaml-template.ts';

export const envoyGrpc = {
  name: 'envoy-grpc',
  title: 'Envoy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** Envoy's static configuration with ext_authz over gRPC. Throws Error if nobody listens for gRPC. */
function files(options: PluginOptions): readonly SnippetFile[] {
  const { grpc } = options.decisions;
  if (grpc === undefined) throw new Error('This needs `listen.decisions.grpc`, where Envoy asks over gRPC.');
  const timeout = `${DECISION_LIMITS.answer}s`;
  const asking = part('envoy-grpc/ext-authz.yaml', { timeout, credentials: credentials(options) });
  return envoyBootstrap(options, { address: grpc, asking, http2: true });
}

import { credentials, DECISIONS, envoyBootstrap } from './envoy-bootstrap.ts';
import { DECISION_LIMITS, type PluginOptions, type SnippetFile } from './plugin-options.ts';

/** Envoy's static configuration with ext_authz over gRPC. Throws Error if nobody listens for gRPC. */
export function envoyGrpc(options: PluginOptions): readonly SnippetFile[] {
  const { grpc } = options.decisions;
  if (grpc === undefined) throw new Error('This needs `listen.decisions.grpc`, where Envoy asks over gRPC.');
  const filter = `# Repeated fields stay apart, so that coursegate can refuse them.
encode_raw_headers: true
grpc_service:
  envoy_grpc: { cluster_name: ${DECISIONS} }
  timeout: ${DECISION_LIMITS.answer}s
  initial_metadata: ${credentials(options)}`;
  return [{ name: 'envoy.yaml', text: envoyBootstrap(options, { address: grpc, filter, http2: true }) }];
}

import { fileURLToPath } from 'node:url';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';

const PROTOS = fileURLToPath(new URL('../../../src/decisions/grpc', import.meta.url));

const DEFINITIONS = loadSync('envoy/service/auth/v3/external_auth.proto', {
  includeDirs: [PROTOS],
  keepCase: true,
  enums: String,
  longs: Number,
  defaults: true,
});

export interface Option {
  readonly header: { readonly key: string; readonly value: string };
  readonly append_action: string;
}

/** A CheckResponse, with the defaults of fields that are missing. */
export interface Checked {
  readonly status: { readonly code: number };
  readonly ok_response?: {
    readonly headers: readonly Option[];
    readonly headers_to_remove: readonly string[];
    readonly response_headers_to_add: readonly Option[];
  };
  readonly denied_response?: {
    readonly status: { readonly code: number };
    readonly headers: readonly Option[];
    readonly body: string;
  };
}

export interface ExtAuthzClient {
  /** Calls Check. Rejects with gRPC's error. */
  check(message: object, metadata?: Readonly<Record<string, string | readonly string[]>>): Promise<Checked>;
  close(): void;
}

/** Asks like Envoy, over a real connection. `address` is host:port or unix:PATH. */
export function extAuthzClient(address: string): ExtAuthzClient {
  const client = new Client(address, credentials.createInsecure());
  const { Check } = DEFINITIONS['envoy.service.auth.v3.Authorization'] as ServiceDefinition;
  if (Check === undefined) throw new Error('The service has no method Check.');
  return {
    check(message, metadata = {}) {
      const sent = new Metadata();
      for (const [name, values] of Object.entries(metadata)) for (const value of [values].flat()) sent.add(name, value);
      return new Promise((resolve, reject) => {
        const done = (error: ServiceError | null, response?: Checked) =>
          response === undefined ? reject(error) : resolve(response);
        const { path, requestSerialize, responseDeserialize } = Check;
        client.makeUnaryRequest(
          path,
          requestSerialize,
          (bytes) => responseDeserialize(bytes) as Checked,
          message,
          sent,
          done,
        );
      });
    },
    close: () => client.close(),
  };
}

/** The values of a field in a list of options. */
export function valuesIn(options: readonly Option[] | undefined, name: string): string[] {
  return (options ?? []).filter(({ header }) => header.key === name).map(({ header }) => header.value);
}

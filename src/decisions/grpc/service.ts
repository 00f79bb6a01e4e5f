import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Server as GrpcServer, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import { type CheckOptions, checkHandler } from './check.ts';

/** The listener of envoy.service.auth.v3.Authorization. Its caller makes `server` listen. */
export interface ExtAuthz {
  readonly server: Server;
  /** Stops taking calls, lets those in flight finish for up to `seconds`, and resolves when all connections are closed. */
  readonly drain: (seconds: number) => Promise<void>;
}

const PROTO = 'envoy/service/auth/v3/external_auth.proto';
const SERVICE = 'envoy.service.auth.v3.Authorization';

const LIMITS = {
  // The fields of a request, twice over, and its target.
  'grpc.max_receive_message_length': 256 * 1024,
  'grpc.max_concurrent_streams': 10_000,
  'grpc.enable_channelz': 0,
};

/** Seconds. Envoy is told to wait for 5. */
const ANSWER_WITHIN = 4.5;

/** @param options.answerWithin 4.5 if omitted */
export async function openExtAuthz(
  options: Omit<CheckOptions, 'server' | 'answerWithin'> & { readonly answerWithin?: number },
): Promise<ExtAuthz> {
  const includeDirs = [fileURLToPath(new URL('.', import.meta.url))];
  const definitions = await load(PROTO, { includeDirs, keepCase: true, enums: Number, longs: Number });
  const grpc = new GrpcServer(LIMITS);
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const server = createServer((socket) => injector.injectConnection(socket));
  const Check = checkHandler({ answerWithin: ANSWER_WITHIN, ...options, server });
  grpc.addService(definitions[SERVICE] as ServiceDefinition, { Check });
  return {
    server,
    async drain(seconds) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      injector.drain(seconds * 1000);
      await closed;
      grpc.forceShutdown();
    },
  };
}

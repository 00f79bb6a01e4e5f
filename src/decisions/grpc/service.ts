import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Server as GrpcServer, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { codePath, installedFiles, readInstalled } from '../../installation.ts';
import { type CheckOptions, checkHandler } from './check.ts';

/** The listener of envoy.service.auth.v3.Authorization. Its caller makes `server` listen. */
export interface ExtAuthz {
  readonly server: Server;
  /** Stops taking calls, lets those in flight finish for up to `seconds`, and resolves when all connections are closed. */
  readonly drain: (seconds: number) => Promise<void>;
}

const PROTOS = codePath('decisions/grpc');
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
  const definitions = fromJSON(protos(), { enums: Number, longs: Number });
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

/** All `.proto` files. Their imports are not followed, because the single binary has no files to open. */
function protos(): protobuf.INamespace {
  const root = new protobuf.Root();
  for (const file of installedFiles(PROTOS).filter((path) => path.endsWith('.proto')))
    protobuf.parse(readInstalled(join(PROTOS, file)).toString('utf8'), root, { keepCase: true });
  return root.toJSON();
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../src/config/load.ts';
import { callOver, MEMBER, startAccount, type TestAccount } from '../../account/support/account.ts';

/** A request of the Account API to a backend. */
export interface BackendRequest {
  readonly method: string;
  readonly url: URL;
  readonly form: URLSearchParams;
  /** The member whom the gate vouches for. */
  readonly member: string;
}

interface BackendResponse {
  readonly status?: number;
  readonly body: unknown;
}

export interface PresetAccount {
  readonly account: TestAccount;
  /** The requests so far. */
  readonly asked: readonly BackendRequest[];
  close(): Promise<void>;
}

/**
 * The Account API with the contract and mapping of a preset (a folder of integrations/), over responses that were
 * recorded from its backend. Takes the member's ID (default: 42) and the environment of the configuration.
 */
export async function presetAccount(
  preset: string,
  respond: (request: BackendRequest) => BackendResponse,
  options: { readonly member?: string; readonly environment: Readonly<Record<string, string>> },
): Promise<PresetAccount> {
  const file = fileURLToPath(new URL(`../../../integrations/${preset}/coursegate.yaml`, import.meta.url));
  const { config, accountFiles, accountConfig } = await loadConfig({ file, environment: options.environment });
  const asked: BackendRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = {
      method: request.method ?? '',
      url: new URL(request.url ?? '', 'http://backend.invalid'),
      form: new URLSearchParams(Buffer.concat(chunks).toString()),
      member: String(request.headers['x-member-id']),
    };
    asked.push(received);
    const { status = 200, body } = respond(received);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const account = await startAccount(
    {
      schema: accountFiles?.schema ?? [],
      mappings: accountFiles?.mappings ?? [],
      recorded: [],
      upstreams: Object.keys(config.upstreams),
      config: accountConfig,
      call: callOver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    },
    { ...MEMBER, sub: options.member ?? '42' },
  );
  return {
    account,
    asked,
    async close() {
      await account.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

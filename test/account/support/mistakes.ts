import type { AccountOptions } from '../../../src/account/account-options.ts';
import { MappingError } from '../../../src/account/connect/mistakes.ts';
import { createAccount } from '../../../src/account/endpoint.ts';
import { LIMITS } from './account.ts';

type Given = Pick<AccountOptions, 'schema' | 'mappings' | 'recorded' | 'upstreams' | 'scopes' | 'config'>;

/** The mistakes of a contract and its mapping, as 'file:line:column coordinate: message'. */
export function mistakesIn(given: Given): string[] {
  try {
    createAccount({
      ...given,
      metadataUrl: 'https://school.example/.well-known/oauth-protected-resource',
      limits: LIMITS,
      introspection: true,
      documents: undefined,
      call: () => Promise.reject(new Error('no call at start')),
      bodyLimit: 1,
      deadline: 1,
    });
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    return thrown.mistakes.map(
      ({ file, line, column, coordinate, message }) => `${file}:${line}:${column} ${coordinate}: ${message}`,
    );
  }
  return [];
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildASTSchema, type GraphQLSchema, parse } from 'graphql';
import { ROOT } from './pages.ts';

let contract: GraphQLSchema | undefined;

/** The Account API in the repository. */
export function accountContract(): GraphQLSchema {
  contract ??= buildContract(readFileSync(join(ROOT, 'schema/account.graphql'), 'utf8'));
  return contract;
}

/** A contract without the definitions of its directives, which the gate adds itself. */
export function buildContract(text: string): GraphQLSchema {
  return buildASTSchema(parse(text), { assumeValidSDL: true });
}

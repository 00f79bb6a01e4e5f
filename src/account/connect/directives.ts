import { buildSchema } from 'graphql';
import { codePath, readInstalled } from '../../installation.ts';

/**
 * The directives of a mapping file: the documented subset of Apollo Connectors, plus @connection, @graphql and
 * @upstreamName. The descriptions are copied into schema/REFERENCE.md.
 */
export const DIRECTIVES = buildSchema(readInstalled(codePath('account/connect/directives.graphql')).toString('utf8'));

export interface HeaderArgument {
  readonly name: string;
  readonly value: string;
}

export interface UpstreamArgument {
  readonly name: string;
  readonly as: string;
}

/** The arguments of each directive, as validated against that SDL. */
export interface DirectiveArguments {
  link: { readonly url: string };
  source: {
    readonly name: string;
    readonly http?: { readonly headers?: readonly HeaderArgument[] };
    readonly isSuccess?: string;
    readonly errors?: ErrorArguments;
    readonly graphql?: { readonly path: string };
  };
  graphql: {
    readonly source: string;
    readonly root?: string;
    readonly member?: string;
    readonly name?: string;
    readonly arguments?: readonly UpstreamArgument[];
  };
  upstreamName: {
    readonly source: string;
    readonly name: string;
    readonly arguments?: readonly UpstreamArgument[];
  };
  connect: {
    readonly source: string;
    readonly http: { readonly [key in Method | 'queryParams' | 'body']?: string | null } & {
      readonly headers?: readonly HeaderArgument[];
    };
    readonly selection: string;
    readonly batch?: { readonly maxSize: number; readonly required: boolean };
    readonly each?: string;
    readonly isSuccess?: string;
    readonly errors?: ErrorArguments;
  };
  connection: {
    readonly style: ConnectionStyle;
    readonly pageSize?: number;
    readonly nodes: string;
    readonly filter?: string;
    readonly next?: string;
    readonly total?: string;
  };
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];
export type ConnectionStyle = 'PAGE' | 'OFFSET' | 'CURSOR' | 'ALL';

interface ErrorArguments {
  readonly message?: string | null;
  readonly extensions?: string | null;
}

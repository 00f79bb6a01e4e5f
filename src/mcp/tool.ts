import type { Principal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';

/** What a call of a tool comes with, besides its arguments. */
export interface CallContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** Aborts when the client has gone or the time for the call is over. */
  readonly signal: AbortSignal;
}

/**
 * How a call ended: with a value, or with words for the model. `incomplete` names what could not be read, `rest` says what
 * was left out and how to get it; `undone` that nothing was changed for certain.
 */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown; readonly incomplete?: readonly string[]; readonly rest?: string }
  | { readonly kind: 'failed'; readonly message: string; readonly undone?: true };

/** In: arguments that fit the input schema. Throws GatewayError for what an upstream does. */
export type Action = (input: Readonly<Record<string, unknown>>, context: CallContext) => Promise<Outcome>;

/** An action as it was built: what it does, and what is known of it. */
export interface BuiltAction {
  readonly act: Action;
  /** Whether it changes nothing. */
  readonly readOnly: boolean;
  /** The scopes that it needs besides those the tool names. */
  readonly scopes: Iterable<string>;
}

/** One tool: what clients see of it, who may call it, and what it does. */
export interface Tool {
  readonly name: string;
  readonly scopes: Scope;
  /** The entry of tools/list. */
  readonly descriptor: ToolDescriptor;
  /** Whether its calls may have an idempotency key. */
  readonly takesKey: boolean;
  readonly call: Action;
}

export interface ToolDescriptor {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown };
  readonly outputSchema?: { readonly type: 'object'; readonly [keyword: string]: unknown };
  readonly annotations: Readonly<Record<string, boolean | string>>;
  readonly _meta: Readonly<Record<string, unknown>>;
}

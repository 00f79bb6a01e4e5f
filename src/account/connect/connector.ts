import type { ConstDirectiveNode, StringValueNode } from 'graphql';
import { type DirectiveArguments, type HeaderArgument, literalAt } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { type Mistakes, type Place, placeInString, placeOf } from './mistakes.ts';
import { parseSelection } from './parser.ts';
import { type Allowed, CONTEXT_KEYS, checkReferences } from './references.ts';
import { MappingSyntaxError, type Selection, type Variable } from './syntax.ts';
import { parsePath, parseTemplate, type Template } from './template.ts';

export type HeaderTemplate = readonly [name: string, value: Template];

/** A call of an upstream and what is made of its answer. */
export interface Connector {
  readonly source: string;
  readonly path: Template;
  readonly query: Evaluate | undefined;
  readonly headers: readonly HeaderTemplate[];
  /** Whether a client's argument goes into the call. */
  readonly takesArguments: boolean;
  readonly select: Evaluate;
  /** For the check against the contract. */
  readonly selection: Selection;
  placeOf(at: number): Place;
}

/** Names that belong to the connection or to the identity the gateway shows; no mapping may set them. */
const RESERVED_HEADERS = new RegExp(
  '^(authorization|cookie|host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|' +
    'forwarded|(proxy|x-forwarded|x-member|x-client|x-coursegate)-.*)$',
);
const HEADER_NAME = /^[!#$%&'*+\-.^`|~0-9a-z]+$/;

/** Collects what the texts of one directive name, and reports what is wrong with them at the right character. */
export class TextReader {
  readonly named = new Map<Variable, Set<string>>();
  readonly #coordinate: string;
  readonly #mistakes: Mistakes;

  constructor(coordinate: string, mistakes: Mistakes) {
    this.#coordinate = coordinate;
    this.#mistakes = mistakes;
  }

  /** Out: what `parse` makes of the literal's text; undefined when it cannot. What `check` finds is only reported. */
  read<T>(
    node: StringValueNode,
    parse: (text: string) => T,
    check: (parsed: T, report: Report) => void,
  ): T | undefined {
    const report = (at: number, message: string): void => {
      this.#mistakes.add(placeInString(node, at), this.#coordinate, message);
    };
    try {
      const parsed = parse(node.value);
      check(parsed, report);
      return parsed;
    } catch (thrown) {
      if (!(thrown instanceof MappingSyntaxError)) throw thrown;
      report(thrown.at, thrown.message);
      return undefined;
    }
  }

  selection(node: StringValueNode, allowed: Allowed, data = true): Selection | undefined {
    return this.read(node, parseSelection, (selection, report) => this.#note(selection, allowed, data, report));
  }

  template(node: StringValueNode, parse: (text: string) => Template, allowed: Allowed): Template | undefined {
    return this.read(node, parse, (template, report) => {
      for (const part of template) {
        if (typeof part === 'string') continue;
        this.#note(part.expression, allowed, false, (at, message) => report(part.at + at, message));
      }
    });
  }

  #note(selection: Selection, allowed: Allowed, data: boolean, report: Report): void {
    for (const [variable, keys] of checkReferences(selection, allowed, data, report)) {
      const known = this.named.get(variable) ?? new Set();
      for (const key of keys) known.add(key);
      this.named.set(variable, known);
    }
  }
}

type Report = (at: number, message: string) => void;

/** Where a connector stands, and what its texts may name. */
export interface ConnectorSite {
  readonly node: ConstDirectiveNode;
  readonly coordinate: string;
  readonly mistakes: Mistakes;
  readonly reader: TextReader;
  readonly inRequest: Allowed;
  readonly inSelection: Allowed;
}

/** Compiles one @connect. Out: undefined when it has mistakes, which are then in the site's list. */
export function compileConnector(values: DirectiveArguments['connect'], site: ConnectorSite): Connector | undefined {
  const { node, reader, inRequest, inSelection } = site;
  const path = reader.template(literalAt(node, 'http', 'GET'), parsePath, inRequest);
  const hasQuery = typeof values.http.queryParams === 'string';
  const query = hasQuery ? reader.selection(literalAt(node, 'http', 'queryParams'), inRequest, false) : undefined;
  if (query !== undefined && query.kind !== 'members') {
    site.mistakes.add(
      placeOf(literalAt(node, 'http', 'queryParams')),
      site.coordinate,
      'queryParams are "name: value"',
    );
  }
  const headers = compileHeaders(values.http.headers ?? [], { ...site, allowed: inRequest });
  const takesArguments = reader.named.has('args');
  const literal = literalAt(node, 'selection');
  const selection = reader.selection(literal, inSelection);
  if (path === undefined || (hasQuery && query === undefined) || headers === undefined || selection === undefined) {
    return undefined;
  }
  return {
    source: values.source,
    path,
    query: query === undefined ? undefined : compileSelection(query),
    headers,
    takesArguments,
    select: compileSelection(selection),
    selection,
    placeOf: (at) => placeInString(literal, at),
  };
}

/** Compiles the `http.headers` of @source or @connect. Out: undefined when one of them cannot be used. */
export function compileHeaders(
  headers: readonly HeaderArgument[],
  site: Pick<ConnectorSite, 'node' | 'coordinate' | 'mistakes' | 'reader'> & { readonly allowed?: Allowed },
): readonly HeaderTemplate[] | undefined {
  const compiled: HeaderTemplate[] = [];
  let sound = true;
  for (const [index, header] of headers.entries()) {
    const name = header.name.toLowerCase();
    if (!HEADER_NAME.test(name) || RESERVED_HEADERS.test(name)) {
      sound = false;
      const place = placeOf(literalAt(site.node, 'http', 'headers', index, 'name'));
      site.mistakes.add(place, site.coordinate, `a mapping cannot set the header ${JSON.stringify(header.name)}`);
    }
    const node = literalAt(site.node, 'http', 'headers', index, 'value');
    const value = site.reader.template(node, parseTemplate, site.allowed ?? { context: CONTEXT_KEYS });
    if (value === undefined) sound = false;
    else compiled.push([name, value]);
  }
  return sound ? compiled : undefined;
}

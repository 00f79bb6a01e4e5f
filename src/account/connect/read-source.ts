import type { ConstDirectiveNode } from 'graphql';
import { compileHeaders } from './connector.ts';
import type { MappingReading } from './mapping.ts';
import { compileOutcome } from './outcome.ts';
import { literalAt, readDirective } from './read-directive.ts';
import { TextReader } from './text-reader.ts';

/** Reads a directive of `extend schema`: a @source; a @link is ignored. */
export function readSource(reading: MappingReading, node: ConstDirectiveNode): void {
  const { names, sources, mistakes, inRequest, inSelection } = reading;
  const wrong = (message: string): void => reading.wrong(literalAt(node, 'name'), 'schema', message);
  if (node.name.value === 'link') readDirective('link', node, 'schema', mistakes);
  else if (node.name.value !== 'source') reading.wrong(node, 'schema', `@${node.name.value} is not allowed here`);
  else {
    const values = readDirective('source', node, 'schema', mistakes);
    if (values === undefined) return;
    const { name, graphql } = values;
    if (sources.has(name)) wrong(`the source "${name}" is declared twice`);
    if (!names.upstreams.includes(name)) {
      wrong(`the configuration has no upstream "${name}", only ${names.upstreams.join(', ')}`);
    }
    if (names.keyed?.includes(name) && graphql !== undefined) {
      wrong(`"${name}" has one key for all members, so it cannot be used with GraphQL`);
    }
    const reader = new TextReader(node, 'schema', mistakes);
    const headers = compileHeaders(values.http?.headers ?? [], reader, inRequest) ?? [];
    sources.set(name, { headers, outcome: compileOutcome(values, reader, inSelection), graphql });
  }
}

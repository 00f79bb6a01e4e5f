import { type GraphQLInputType, getNullableType, isInputObjectType } from 'graphql';
import type { Keys } from './references.ts';

interface Input {
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** Input objects may hold themselves; nobody maps deeper than this. */
const DEEPEST = 5;

/** What a mapping may name of a field's arguments: $args.input.slug. In: the arguments, and those that are not its own. */
export function inputKeys(inputs: readonly Input[], without: readonly string[] = [], depth = 0): Keys {
  const own = inputs.filter(({ name }) => !without.includes(name));
  return new Map(
    own.map(({ name, type }) => {
      const bare = getNullableType(type);
      const inside = isInputObjectType(bare) && depth < DEEPEST ? Object.values(bare.getFields()) : undefined;
      return [name, inside && inputKeys(inside, [], depth + 1)];
    }),
  );
}

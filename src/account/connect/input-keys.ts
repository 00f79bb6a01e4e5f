import { type GraphQLInputType, getNullableType, isInputObjectType } from 'graphql';
import type { Keys } from './references.ts';

interface Input {
  readonly name: string;
  readonly type: GraphQLInputType;
}

/** Input objects can be recursive, so the depth is limited; mappings do not need more. */
const DEEPEST = 5;

/** The keys of a field's arguments that a mapping can use, as in $args.input.slug, except the arguments in `without`. */
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

import {
  type GraphQLEnumType,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { toDateTime } from '../connect/date-time.ts';
import type { UpstreamName } from '../connect/mapping.ts';
import { unusable } from '../connect/window.ts';
import { AccountError } from '../errors.ts';

/** The enum value of a contract for upstream values that it does not know. */
const UNKNOWN = 'UNKNOWN';
/** The other upstream scalars that each built-in scalar of the contract accepts. */
const WIDER: Readonly<Record<string, readonly string[]>> = { Float: ['Int'], ID: ['String', 'Int'], String: ['ID'] };

export type Wrong = (message: string) => void;

/** An upstream's names for the parts of the contract. */
export interface Naming {
  readonly source: string;
  readonly of: (coordinate: string) => readonly UpstreamName[];
}

/** Pairs of each enum value of the contract and an upstream value for it. */
function enumPairs(naming: Naming, type: GraphQLEnumType): readonly [string, string][] {
  return type.getValues().flatMap(({ name }): [string, string][] => {
    const named = naming.of(`${type.name}.${name}`);
    return named.length === 0 ? [[name, name]] : named.map((other) => [name, other.name]);
  });
}

/** How to convert upstream values of a leaf type. Takes both types without wrappers. Mistakes go to `wrong`. */
export function leafReader(
  naming: Naming,
  type: GraphQLNamedType,
  upstream: GraphQLNamedType,
  wrong: Wrong,
  timeZone: string,
): (value: unknown) => unknown {
  if (isEnumType(type) && isEnumType(upstream)) return enumReader(naming, type, upstream, wrong);
  if (!isScalarType(type) || !isScalarType(upstream)) {
    wrong(`is ${type.name} in the contract, but ${upstream.name} upstream`);
  } else if (isSpecifiedScalarType(type)) {
    const fits = type.name === upstream.name || WIDER[type.name]?.includes(upstream.name) === true;
    if (!fits) wrong(`is ${type.name} in the contract, but ${upstream.name} upstream`);
  } else if (isSpecifiedScalarType(upstream) && upstream.name !== 'String' && upstream.name !== 'ID')
    wrong(`is ${type.name} in the contract, which ${upstream.name} cannot provide`);
  // Upstreams use many variants of ISO 8601. The scalar's own check refuses anything else.
  if (type.name === 'DateTime')
    return (value) => {
      const converted = toDateTime(value, 'iso', timeZone);
      return converted === undefined ? value : converted;
    };
  return (value) => value;
}

function enumReader(
  naming: Naming,
  type: GraphQLEnumType,
  upstream: GraphQLEnumType,
  wrong: Wrong,
): (value: unknown) => unknown {
  const known = new Set(upstream.getValues().map(({ name }) => name));
  const hasUnknown = type.getValues().some(({ name }) => name === UNKNOWN);
  const pairs = enumPairs(naming, type);
  const names = new Map(pairs.map(([own, other]) => [other, own]));
  for (const [own, other] of pairs) {
    const isDeclared = naming.of(`${type.name}.${own}`).length > 0;
    if (isDeclared && !known.has(other)) wrong(`${type.name}.${own}: the upstream's ${upstream.name} has no ${other}`);
  }
  for (const name of known) {
    if (!names.has(name) && !hasUnknown) wrong(`${type.name} has nothing for the upstream's ${upstream.name}.${name}`);
  }
  return (value) => {
    const own = typeof value === 'string' ? names.get(value) : undefined;
    if (own !== undefined) return own;
    if (hasUnknown && typeof value === 'string') return UNKNOWN;
    return unusable(naming.source, `no ${type.name}`);
  };
}

/** How to convert values of an argument or an input field for the upstream. Mistakes go to `wrong`. */
export function inputWriter(
  naming: Naming,
  type: GraphQLInputType,
  upstream: GraphQLInputType,
  wrong: Wrong,
  within: readonly string[] = [],
): (value: unknown) => unknown {
  if (isNonNullType(upstream) && !isNonNullType(type)) wrong(`may be null, which the upstream's ${upstream} may not`);
  const [own, other] = [getNullableType(type), getNullableType(upstream)];
  if (isListType(own) && isListType(other)) {
    const item = inputWriter(naming, own.ofType, other.ofType, wrong, within);
    return (value) => (Array.isArray(value) ? value.map(item) : value);
  }
  if (isEnumType(own) && isEnumType(other)) {
    const known = new Set(other.getValues().map(({ name }) => name));
    const pairs = enumPairs(naming, own).filter(([name]) => name !== UNKNOWN);
    const names = new Map(pairs.toReversed());
    for (const [name, upstreamName] of names) {
      if (!known.has(upstreamName)) wrong(`${own.name}.${name}: the upstream's ${other.name} has no ${upstreamName}`);
    }
    return (value) => {
      if (value === null) return null;
      const name = names.get(String(value));
      if (name === undefined) throw new AccountError('BAD_USER_INPUT');
      return name;
    };
  }
  if (isInputObjectType(own) && isInputObjectType(other)) {
    if (within.includes(own.name)) {
      wrong(`${own.name} is recursive, which cannot be mapped`);
      return (value) => value;
    }
    const given = other.getFields();
    const fields = Object.values(own.getFields()).map((field) => {
      const [named] = naming.of(`${own.name}.${field.name}`);
      const name = named?.name ?? field.name;
      const match = given[name];
      const wrongHere: Wrong = (message) => wrong(`${own.name}.${field.name}: ${message}`);
      if (match === undefined) wrongHere(`the upstream's ${other.name} has no ${name}`);
      const write = match && inputWriter(naming, field.type, match.type, wrongHere, [...within, own.name]);
      return { from: field.name, to: name, write: write ?? ((value: unknown) => value) };
    });
    for (const field of Object.values(given)) {
      const isSet = fields.some(({ to }) => to === field.name);
      if (isRequiredInputField(field) && !isSet) wrong(`the upstream's ${other.name} needs ${field.name}`);
    }
    return (value) => {
      if (typeof value !== 'object' || value === null) return value;
      const members = value as Readonly<Record<string, unknown>>;
      const present = fields.filter(({ from }) => Object.hasOwn(members, from));
      return Object.fromEntries(present.map(({ from, to, write }) => [to, write(members[from])]));
    };
  }
  const both = isScalarType(own) && isScalarType(other);
  const same = both && (own.name === other.name || !isSpecifiedScalarType(other));
  // All custom scalars of the contract are strings.
  const text = both && other.name === 'String' && (own.name === 'ID' || !isSpecifiedScalarType(own));
  const wider = both && `${own.name} ${other.name}`.match(/^(Int Float|String ID)$/) !== null;
  if (!same && !text && !wider) wrong(`takes ${own}, but the upstream takes ${other}`);
  return (value) => value;
}

import { GraphQLError, type GraphQLScalarType, type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql';
import { isTimeZone } from '../config/time-zone.ts';

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** The custom scalars that a contract can use, each with a check of its values. */
const SCALARS: Readonly<Record<string, (value: unknown) => boolean>> = {
  DateTime: (value) => typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  Decimal: (value) => typeof value === 'string' && /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(value),
  CurrencyCode: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
  URL: (value) => typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  TimeZone: (value) => typeof value === 'string' && isTimeZone(value),
};

export const SCALAR_NAMES: ReadonlySet<string> = new Set(Object.keys(SCALARS));

/** Whether a type is a scalar whose values nothing checks. */
export function isUnsupportedScalar(type: unknown): boolean {
  return isScalarType(type) && !isSpecifiedScalarType(type) && !SCALAR_NAMES.has(type.name);
}

/** Attaches the checks to the contract's custom scalars, for both output values and arguments. */
export function attachScalars(contract: GraphQLSchema): void {
  for (const [name, accepts] of Object.entries(SCALARS)) {
    const type = contract.getType(name);
    if (!isScalarType(type)) continue;
    const coerce = (value: unknown): unknown => {
      if (!accepts(value)) throw new GraphQLError(`${name} cannot represent this value.`);
      return value;
    };
    const scalar = type as GraphQLScalarType;
    scalar.coerceOutputValue = coerce;
    scalar.coerceInputValue = coerce;
  }
}

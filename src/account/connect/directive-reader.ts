import {
  type ASTNode,
  type ConstDirectiveNode,
  coerceInputLiteral,
  GraphQLError,
  isRequiredArgument,
  Kind,
  type StringValueNode,
  type ValueNode,
  validateInputLiteral,
} from 'graphql';
import { DIRECTIVES, type DirectiveArguments } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { type Mistakes, placeInString, placeOf } from './mistakes.ts';
import { parseSelection } from './parser.ts';
import { type Available, checkReferences } from './references.ts';
import { MappingSyntaxError, type Selection, type Variable } from './syntax.ts';
import type { Template } from './template.ts';

/** Names of arguments and input fields, and indexes in lists, such as `http`, `headers`, 0, `value`. */
type ArgumentPath = readonly (string | number)[];

type Report = (at: number, message: string) => void;

/**
 * Reads one directive of a mapping file: its arguments, and the texts in the mapping language among them. Collects the
 * variables that the texts use, and reports mistakes at the exact character.
 */
export class DirectiveReader {
  /** The variables that the texts use, each with the keys used. */
  readonly used = new Map<Variable, Set<string>>();
  /** Whether all texts so far could be parsed. */
  isSound = true;
  readonly #node: ConstDirectiveNode;
  readonly #coordinate: string;
  readonly #mistakes: Mistakes;

  constructor(node: ConstDirectiveNode, coordinate: string, mistakes: Mistakes) {
    this.#node = node;
    this.#coordinate = coordinate;
    this.#mistakes = mistakes;
  }

  /** Reports a mistake in the string at a path, or in the directive as a whole. */
  wrong(message: string, ...path: ArgumentPath): void {
    const place = path.length === 0 ? this.#node : this.literal(...path);
    this.#mistakes.add(placeOf(place), this.#coordinate, message);
  }

  /** The arguments of the directive; undefined if they have mistakes. */
  arguments<Name extends keyof DirectiveArguments>(name: Name): DirectiveArguments[Name] | undefined {
    const definition = DIRECTIVES.getDirective(name);
    if (definition === undefined || definition === null) throw new Error(`no directive @${name}`);
    const given = this.#node.arguments ?? [];
    const values: Record<string, unknown> = {};
    let sound = true;
    const wrong = (place: ASTNode, message: string): void => {
      sound = false;
      this.#mistakes.add(placeOf(place), this.#coordinate, `@${name}: ${message}`);
    };
    for (const node of given) {
      const argument = definition.args.find((each) => each.name === node.name.value);
      if (argument === undefined) {
        wrong(node, `there is no argument ${node.name.value}`);
        continue;
      }
      const problem = ({ nodes, message }: GraphQLError): void =>
        wrong(nodes?.[0] ?? node, `${argument.name}: ${message}`);
      validateInputLiteral(node.value, argument.type, problem);
      // null is the same as no argument.
      values[argument.name] = coerceInputLiteral(node.value, argument.type) ?? undefined;
    }
    for (const argument of definition.args) {
      const missing = isRequiredArgument(argument) && !given.some((node) => node.name.value === argument.name);
      if (missing) wrong(this.#node, `the argument ${argument.name} is missing`);
    }
    return sound ? (values as unknown as DirectiveArguments[Name]) : undefined;
  }

  /** The string at a path. @throws {GraphQLError} when there is none */
  literal(...path: ArgumentPath): StringValueNode {
    const found = this.#stringAt(path);
    if (found === undefined) throw new GraphQLError(`no string at ${path.join('.')}`, { nodes: [this.#node] });
    return found;
  }

  /** Parses the selection at a path. `hasData` says whether there is data to read here (a path has none). */
  selection(path: ArgumentPath, available: Available, hasData = true): Selection | undefined {
    return this.#parse(path, parseSelection, (selection, report) => this.#note(selection, available, hasData, report));
  }

  /**
   * Compiles the text at a path; undefined if there is none or it has a syntax error.
   *
   * @param name - what messages call it
   */
  compile(
    path: ArgumentPath,
    shape: 'expression' | 'members' | 'any',
    available: Available,
    { hasData = true, name = path.join('.') } = {},
  ): Evaluate | undefined {
    if (this.#stringAt(path) === undefined) return undefined;
    const selection = this.selection(path, available, hasData);
    if (selection === undefined) return undefined;
    if (shape === 'expression' && selection.kind === 'members') this.wrong(`${name} is an expression`, ...path);
    if (shape === 'members' && selection.kind !== 'members') this.wrong(`${name} are "name: value"`, ...path);
    return compileSelection(selection);
  }

  /** Parses text with expressions in braces. */
  template(path: ArgumentPath, parse: (text: string) => Template, available: Available): Template | undefined {
    return this.#parse(path, parse, (template, report) => {
      for (const part of template) {
        if (typeof part === 'string') continue;
        this.#note(part.expression, available, false, (at, message) => report(part.at + at, message));
      }
    });
  }

  /** Undefined on a syntax error. What `check` finds is only reported. */
  #parse<T>(path: ArgumentPath, parse: (text: string) => T, check: (parsed: T, report: Report) => void): T | undefined {
    const literal = this.literal(...path);
    const report: Report = (at, message) => this.#mistakes.add(placeInString(literal, at), this.#coordinate, message);
    try {
      const parsed = parse(literal.value);
      check(parsed, report);
      return parsed;
    } catch (thrown) {
      if (!(thrown instanceof MappingSyntaxError)) throw thrown;
      report(thrown.at, thrown.message);
      this.isSound = false;
      return undefined;
    }
  }

  #note(selection: Selection, available: Available, hasData: boolean, report: Report): void {
    for (const [variable, keys] of checkReferences(selection, available, hasData, report))
      this.used.set(variable, new Set([...(this.used.get(variable) ?? []), ...keys]));
  }

  #stringAt(path: ArgumentPath): StringValueNode | undefined {
    const [argument, ...steps] = path;
    let value: ValueNode | undefined = this.#node.arguments?.find(({ name }) => name.value === argument)?.value;
    for (const step of steps) {
      if (value?.kind === Kind.OBJECT) value = value.fields.find(({ name }) => name.value === step)?.value;
      else value = value?.kind === Kind.LIST ? value.values[Number(step)] : undefined;
    }
    return value?.kind === Kind.STRING ? value : undefined;
  }
}

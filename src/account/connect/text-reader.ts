import type { ASTNode, ConstDirectiveNode, StringValueNode } from 'graphql';
import { type Mistakes, placeInString, placeOf } from './mistakes.ts';
import { parseSelection } from './parser.ts';
import { type Allowed, checkReferences } from './references.ts';
import { MappingSyntaxError, type Selection, type Variable } from './syntax.ts';
import type { Template } from './template.ts';

type Report = (at: number, message: string) => void;

/** Parses the texts of one directive, collects the variables they use, and reports mistakes at the exact character. */
export class TextReader {
  readonly named = new Map<Variable, Set<string>>();
  readonly node: ConstDirectiveNode;
  readonly #coordinate: string;
  readonly #mistakes: Mistakes;

  constructor(node: ConstDirectiveNode, coordinate: string, mistakes: Mistakes) {
    this.node = node;
    this.#coordinate = coordinate;
    this.#mistakes = mistakes;
  }

  wrong(at: ASTNode, message: string): void {
    this.#mistakes.add(placeOf(at), this.#coordinate, message);
  }

  /** Parses the text of a literal; undefined on a syntax error. Findings of `check` are only reported. */
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

  /** Parses a text that must be one expression. */
  expression(node: StringValueNode, name: string, allowed: Allowed, data = true): Selection | undefined {
    const selection = this.selection(node, allowed, data);
    if (selection?.kind === 'members') this.wrong(node, `${name} is an expression`);
    return selection;
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

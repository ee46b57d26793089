// Documents that follow the schema: fields, arguments, variables, fragments, directives and introspection at random.

import { getNamedType, getNullableType, isEnumType, isNonNullType, isObjectType } from "graphql";

/** A document that is valid, up to a few collisions of names, and selects so many levels at most. */
export function validDocument(random, schema, depth = 2 + random.below(5)) {
  return new Writer(random, schema).document(depth);
}

/** A value that an input type takes. */
export function literal(random, type) {
  if (!isNonNullType(type) && random.chance(0.05)) return "null";
  const named = getNamedType(type);
  if (isEnumType(named)) return random.pick(named.getValues()).name;
  return random.pick(LITERALS[named.name]);
}

const LITERALS = {
  Int: ["1", "10", "0", "-5", "2147483647", "-2147483648"],
  ID: ['"10000"', "1", '""', '"""block"""', "-0", "9223372036854775807", '"\\u{1F600}"'],
  String: ['"x"', '"a\\nb"', '"""\n a\n"""', '"\\uD83D\\uDE00"', '"é😀"', '"statusId:ORDER_HELD"'],
  Boolean: ["true", "false"],
  Decimal: ['"1.5"', "1.5", "1"],
  DateTime: ['"2020-01-01"', '"2020-01-01T10:00:00Z"'],
};

class Writer {
  constructor(random, schema) {
    this.random = random;
    this.schema = schema;
    this.variables = new Map();
    this.fragments = [];
    this.aliases = 0;
  }

  document(depth) {
    const { random } = this;
    const selections = this.selections(this.schema.getQueryType(), depth);
    const fragments = this.fragments.map(({ name, type, text }) => `fragment ${name} on ${type.name} ${text}`);
    const definitions = [this.operationHead() + selections, ...fragments];
    if (random.chance(0.1)) definitions.push(`query Other${random.below(3)} { __typename }`);
    if (random.chance(0.3)) definitions.reverse();
    return definitions.join("\n");
  }

  operationHead() {
    const { random } = this;
    const description = random.chance(0.05) ? '"What it is for."\n' : "";
    const variables = [...this.variables.values()];
    if (!variables.length && !description && random.chance(0.7)) return "";
    const name = random.chance(0.6) ? `Q${random.below(3)}` : "";
    return `${description}query ${name}${variables.length ? `(${variables.join(", ")})` : ""} `;
  }

  selections(type, depth) {
    const { random } = this;
    const items = random.times(1 + random.below(4), () => this.selection(type, depth));
    return `{ ${items.join(random.chance(0.3) ? "\n" : " ")} }`;
  }

  selection(type, depth) {
    const { random } = this;
    const kind = random.fraction();
    if (kind < 0.06) return `__typename${this.directives()}`;
    if (depth > 0 && kind < 0.14) {
      const condition = random.chance(0.7) ? ` on ${type.name}` : "";
      return `...${condition}${this.directives()} ${this.selections(type, depth - 1)}`;
    }
    if (depth > 0 && kind < 0.24) return `...${this.fragment(type, depth)}${this.directives()}`;
    if (type === this.schema.getQueryType() && kind < 0.3) return this.introspection();
    return this.field(type, depth);
  }

  field(type, depth) {
    const { random } = this;
    const fields = Object.values(type.getFields());
    const leaves = fields.filter((field) => !isObjectType(getNamedType(field.type)));
    const choice = depth > 0 ? fields : leaves;
    if (!choice.length) return "__typename";
    const field = random.pick(choice);
    const named = getNamedType(field.type);
    const inner = isObjectType(named) ? ` ${this.selections(named, depth - 1)}` : "";
    return this.alias(field) + field.name + this.arguments(field.args) + this.directives() + inner;
  }

  /** Mostly one of its own, so that two fields seldom come to the same key with different arguments. */
  alias(field) {
    const { random } = this;
    if ((field.args.length || random.chance(0.1)) && random.chance(0.97)) return `a${this.aliases++}: `;
    return random.chance(0.01) ? "orderId: " : "";
  }

  arguments(args) {
    const { random } = this;
    const given = args.filter((argument) => isNonNullType(argument.type) || random.chance(0.3));
    const texts = given.map((argument) => `${argument.name}: ${this.value(argument.type)}`);
    return texts.length ? `(${texts.join(random.chance(0.5) ? ", " : " ")})` : "";
  }

  introspection() {
    const { random } = this;
    const name = this.value(this.schema.getDirective("specifiedBy").args[0].type);
    const [field, type] = random.chance(0.5) ? ["__schema", "__Schema"] : [`__type(name: ${name})`, "__Type"];
    return `i${this.aliases++}: ${field} ${this.selections(this.schema.getType(type), random.below(6))}`;
  }

  fragment(type, depth) {
    const known = this.fragments.filter((fragment) => fragment.type === type && fragment.text);
    if (known.length && this.random.chance(0.5)) return this.random.pick(known).name;
    const fragment = { name: `F${this.fragments.length}`, type, text: "" };
    this.fragments.push(fragment);
    fragment.text = this.selections(type, depth - 1);
    return fragment.name;
  }

  directives() {
    const { random } = this;
    const condition = this.schema.getDirective("include").args[0].type;
    const include = random.chance(0.08) ? ` @include(if: ${this.value(condition)})` : "";
    const skip = random.chance(0.05) ? ` @skip(if: ${this.value(condition)})` : "";
    return include + skip;
  }

  value(type) {
    return this.random.chance(0.25) ? this.variable(type) : literal(this.random, type);
  }

  /** A variable that may stand for a type: of that type, a stricter one, or a laxer one with a default. */
  variable(type) {
    const { random } = this;
    const { name: named } = getNamedType(type);
    const nullable = getNullableType(type);
    if (isNonNullType(type) && random.chance(0.3)) {
      return this.declared(`d${named}`, `${nullable} = ${literal(random, type)}`);
    }
    if (isNonNullType(type) || random.chance(0.3)) return this.declared(`r${random.below(4)}${named}`, `${nullable}!`);
    const initial = random.chance(0.3) ? ` = ${literal(random, nullable)}` : "";
    return this.declared(`v${random.below(4)}${named}`, `${nullable}${initial}`);
  }

  declared(name, type) {
    if (!this.variables.has(name)) this.variables.set(name, `$${name}: ${type}`);
    return `$${name}`;
  }
}

/** The notation of mongosh and Compass, read without running anything: it becomes canonical Extended JSON, then bytes. */
import { EjsonError } from './ejson-error.ts';
import { parseEjson } from './ejson.ts';
import { JsonCursor } from './json-cursor.ts';
import { type BsonValue, toBase64 } from './value.ts';

/**
 * One value in shell notation or Extended JSON: names without quotes, single quotes, `ObjectId("…")`, `ISODate("…")`,
 * `NumberLong(1)`, `/pattern/i`, trailing commas, comments. Numbers keep the types that Extended JSON gives them: `5` is an
 * Int32, `5.0` a Double. Functions, variables and arithmetic are refused. Throws {@link EjsonError}.
 */
export function parseShell(text: string): BsonValue {
  const reader = new ShellReader(text);
  const value = reader.value(0);
  reader.end();
  return parseEjson(value);
}

/** Fewer than a server lets a document nest. */
const deepest = 150;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' };

const literals: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  false: 'false',
  undefined: '{"$undefined":true}',
  NaN: '{"$numberDouble":"NaN"}',
  Infinity: '{"$numberDouble":"Infinity"}',
  MinKey: '{"$minKey":1}',
  MaxKey: '{"$maxKey":1}',
};

/** What a call such as `ObjectId("…")` means, from its arguments in Extended JSON; undefined where they do not fit. */
type Form = (args: readonly string[]) => string | undefined;

const number =
  (wrapper: string): Form =>
  ([given, ...rest]) => {
    const digits = given === undefined ? '0' : given.startsWith('"') ? textOf(given) : given;
    return rest.length === 0 && /^[-+\w.]+$/.test(digits) ? wrap(wrapper, JSON.stringify(digits)) : undefined;
  };

const date: Form = ([given, ...rest]) => {
  if (rest.length > 0) return undefined;
  if (given === undefined) return wrap('$date', wrap('$numberLong', `"${Date.now()}"`));
  if (isText(given)) return wrap('$date', given);
  return /^-?\d+$/.test(given) ? wrap('$date', wrap('$numberLong', `"${given}"`)) : undefined;
};

const binary: Form = ([subType, base64, ...rest]) =>
  subType !== undefined && /^\d{1,3}$/.test(subType) && Number(subType) < 256 && isText(base64) && rest.length === 0
    ? wrap('$binary', `{"base64":${base64},"subType":"${Number(subType).toString(16).padStart(2, '0')}"}`)
    : undefined;

const hexData: Form = ([subType, hex, ...rest]) => {
  if (!isText(hex) || !/^([0-9a-f]{2})*$/i.test(textOf(hex))) return undefined;
  const bytes = Uint8Array.from(textOf(hex).match(/../g) ?? [], (pair) => parseInt(pair, 16));
  return binary([subType ?? '', JSON.stringify(toBase64(bytes)), ...rest]);
};

const timestamp: Form = ([t, i, ...rest]) => {
  if (t === undefined || rest.length > 0) return undefined;
  if (i === undefined) return t.startsWith('{') ? wrap('$timestamp', t) : undefined;
  return /^\d+$/.test(t) && /^\d+$/.test(i) ? wrap('$timestamp', `{"t":${t},"i":${i}}`) : undefined;
};

const oneText =
  (wrapper: string): Form =>
  ([given, ...rest]) =>
    isText(given) && rest.length === 0 ? wrap(wrapper, given) : undefined;

const regex: Form = ([pattern, options = '""', ...rest]) =>
  isText(pattern) && isText(options) && rest.length === 0
    ? wrap('$regularExpression', `{"pattern":${pattern},"options":${sortedOptions(options)}}`)
    : undefined;

const forms = new Map<string, Form>([
  ['ObjectId', oneText('$oid')],
  ['UUID', oneText('$uuid')],
  ['ISODate', date],
  ['Date', date],
  ['NumberLong', number('$numberLong')],
  ['Long', number('$numberLong')],
  ['NumberInt', number('$numberInt')],
  ['Int32', number('$numberInt')],
  ['Double', number('$numberDouble')],
  ['NumberDecimal', number('$numberDecimal')],
  ['Decimal128', number('$numberDecimal')],
  ['BinData', binary],
  ['HexData', hexData],
  ['Timestamp', timestamp],
  ['RegExp', regex],
  ['Code', oneText('$code')],
  ['Symbol', oneText('$symbol')],
  ['MinKey', (args) => (args.length === 0 ? literals['MinKey'] : undefined)],
  ['MaxKey', (args) => (args.length === 0 ? literals['MaxKey'] : undefined)],
]);

class ShellReader {
  private readonly cursor: JsonCursor;

  constructor(text: string) {
    this.cursor = new JsonCursor(text, 0, { line: 1, column: 1 });
  }

  /** The value at the cursor as Extended JSON. */
  value(depth: number): string {
    if (depth > deepest) this.cursor.fail('This is nested too deeply.');
    const next = this.next();
    if (next === '{') return `{${this.items('}', () => this.member(depth)).join(',')}}`;
    if (next === '[') return `[${this.items(']', () => this.value(depth + 1)).join(',')}]`;
    if (next === '"' || next === "'") return JSON.stringify(this.text());
    if (next === '/') return this.regexLiteral();
    if (/[-+.\d]/.test(next)) return this.number();
    return this.word();
  }

  end(): void {
    const next = this.next();
    if (next !== '') this.cursor.fail(`Expected nothing more, found ${next}.`);
  }

  /** The next character that is no white space and stands in no comment; empty at the end. */
  private next(): string {
    const { cursor } = this;
    const blank = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
    blank.lastIndex = cursor.pos;
    cursor.pos += blank.exec(cursor.text)?.[0].length ?? 0;
    return cursor.text[cursor.pos] ?? '';
  }

  /** What stands between an opening character, at the cursor, and the closing one. */
  private items(close: string, item: () => string): string[] {
    const { cursor } = this;
    cursor.pos += 1;
    const items: string[] = [];
    for (;;) {
      if (this.next() === close) break;
      items.push(item());
      const next = this.next();
      if (next === ',') cursor.pos += 1;
      else if (next === '') this.cursor.failUnfinished();
      else if (next !== close) this.cursor.fail(`Expected a comma or ${close}, found ${next}.`);
    }
    cursor.pos += 1;
    return items;
  }

  private member(depth: number): string {
    const { cursor } = this;
    const next = this.next();
    const name = next === '"' || next === "'" ? this.text() : this.match(/[\p{L}_$][\p{L}\p{N}_$]*|\d+/uy);
    if (name === undefined) this.cursor.fail(`Expected a field name, found ${next || 'the end'}.`);
    if (this.next() !== ':') this.cursor.fail(`Expected a colon behind ${name}.`);
    cursor.pos += 1;
    return `${JSON.stringify(name)}:${this.value(depth + 1)}`;
  }

  private text(): string {
    const { cursor } = this;
    const quote = cursor.text[cursor.pos]!;
    const from = cursor.pos;
    let decoded = '';
    for (cursor.pos += 1; ; cursor.pos += 1) {
      const char = cursor.text[cursor.pos];
      if (char === undefined || char === '\n') this.cursor.fail('A text in quotes does not end on its line.', from);
      if (char === quote) break;
      decoded += char === '\\' ? this.escape() : char;
    }
    cursor.pos += 1;
    return decoded;
  }

  /** Leaves the cursor at the last character of the escape. */
  private escape(): string {
    const { cursor } = this;
    const coded = /u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})/y;
    coded.lastIndex = cursor.pos + 1;
    const found = coded.exec(cursor.text);
    if (found) {
      cursor.pos += found[0].length;
      return String.fromCharCode(parseInt(found[1] ?? found[2] ?? '', 16));
    }
    cursor.pos += 1;
    const letter = cursor.text[cursor.pos] ?? '';
    if (/[ux1-9]/.test(letter)) this.cursor.fail(`There is no escape \\${letter} like this.`, cursor.pos - 1);
    return Object.hasOwn(escapes, letter) ? escapes[letter]! : letter;
  }

  private number(): string {
    const { cursor } = this;
    const at = cursor.pos;
    const found = this.match(/[-+]?(?:Infinity\b|[\w.]+(?:(?<=[eE])[-+]\d+)?)/y) ?? '';
    if (/^[-+]Infinity$/.test(found)) return wrap('$numberDouble', `"${found.replace('+', '')}"`);
    const digits = /^\+?(-?)(\d*)(\.\d*)?([eE][-+]?\d+)?$/.exec(found);
    if (!digits || `${digits[2]}${digits[3] ?? ''}`.replace('.', '') === '') {
      this.cursor.fail(`${found || 'This'} is no number.`, at);
    }
    const [, sign = '', whole = '', fraction = '', exponent = ''] = digits;
    const part = fraction.length === 1 ? '.0' : fraction;
    return `${sign}${whole.replace(/^0+(?=\d)/, '') || '0'}${part}${exponent}`;
  }

  private regexLiteral(): string {
    const found = this.match(/\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/y);
    if (found === undefined) this.cursor.fail('A regular expression does not end on its line.');
    const end = found.lastIndexOf('/');
    const pattern = found.slice(1, end).replaceAll('\\/', '/');
    return regex([JSON.stringify(pattern), JSON.stringify(found.slice(end + 1))])!;
  }

  private word(): string {
    const { cursor } = this;
    const at = cursor.pos;
    let name = this.match(/[\p{L}_$][\p{L}\p{N}_$.]*/uy);
    if (name === undefined) {
      const next = this.next();
      if (next === '') this.cursor.failUnfinished();
      this.cursor.fail(`Expected a value, found ${next}.`);
    }
    if (name === 'new') {
      this.next();
      name = this.match(/[\p{L}_$][\p{L}\p{N}_$.]*/uy) ?? name;
    }
    if (this.next() !== '(') {
      if (Object.hasOwn(literals, name)) return literals[name]!;
      this.cursor.fail(`${name} is no value; text stands in quotes.`, at);
    }
    return this.call(name, at);
  }

  private call(name: string, at: number): string {
    const form = forms.get(name.replace(/\.(?:fromString|from|createFromHexString)$/, ''));
    if (!form) this.cursor.fail(`${name}(…) cannot be used here: nothing is run.`, at);
    const args = this.items(')', () => this.value(deepest));
    const value = form(args);
    if (value === undefined) this.cursor.fail(`${name}(${args.join(', ')}) is not understood.`, at);
    try {
      parseEjson(value);
    } catch (error) {
      // Its place is one in the text made here.
      if (error instanceof EjsonError) this.cursor.fail(error.message, at);
      throw error;
    }
    return value;
  }

  private match(pattern: RegExp): string | undefined {
    const { cursor } = this;
    pattern.lastIndex = cursor.pos;
    const found = pattern.exec(cursor.text)?.[0];
    cursor.pos += found?.length ?? 0;
    return found;
  }
}

function wrap(name: string, value: string): string {
  return `{"${name}":${value}}`;
}

function isText(arg: string | undefined): arg is string {
  return arg?.startsWith('"') === true;
}

function textOf(json: string): string {
  return JSON.parse(json) as string;
}

/** The server keeps them in order of the alphabet. */
function sortedOptions(json: string): string {
  return JSON.stringify([...textOf(json)].sort().join(''));
}

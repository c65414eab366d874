/** Extended JSON (canonical and relaxed v2, legacy v1) from text straight to bytes. */
import { ByteWriter } from './byte-writer.ts';
import { wrappers } from './ejson-wrappers.ts';
import type { OnDuplicate } from './ejson-error.ts';
import { JsonCursor, type TextPosition } from './json-cursor.ts';
import { buildDocument, elementsOf, payloadEnd } from './walk.ts';
import { NameHashes } from './name-hashes.ts';
import { type BsonValue, sameRange, Type } from './value.ts';

/** More levels than any server stores (180), few enough for the stack. */
const deepest = 400;
const longest = 16 * 1024 * 1024 * 3;

export class EjsonParser extends JsonCursor {
  private readonly out: ByteWriter;
  private depth = 0;
  private readonly duplicates: { name: string; at: number }[] = [];

  constructor(text: string, pos: number, origin: TextPosition, out = new ByteWriter()) {
    super(text, pos, origin);
    this.out = out;
  }

  /** The value at the cursor, which moves behind it. */
  read(): BsonValue {
    this.out.at = 0;
    this.depth = 0;
    this.out.byte(0);
    const type = this.value();
    this.out.bytes[0] = type;
    return this.out.bytes.slice(0, this.out.at);
  }

  /** Before the next value is read by the same parser. */
  forgetDuplicates(): void {
    this.duplicates.length = 0;
  }

  /** Tells of the duplicate names in what was read. */
  report(onDuplicate: OnDuplicate | undefined): void {
    if (onDuplicate === undefined) return;
    for (const { name, at } of this.duplicates) onDuplicate(name, this.positionOf(at).line);
  }

  /** Writes the payload of the value at the cursor and gives its type. */
  private value(): number {
    const code = this.peek();
    switch (code) {
      case 0x22:
        return this.stringValue();
      case 0x7b:
        return this.object();
      case 0x5b:
        return this.array();
      case 0x2d:
        return this.numberValue();
      default:
        if (code >= 0x30 && code <= 0x39) return this.numberValue();
        return this.constant(code);
    }
  }

  private constant(code: number): number {
    if (code === 0x6e && this.word('null')) return Type.Null;
    const yes = code === 0x74 && this.word('true');
    if (yes || (code === 0x66 && this.word('false'))) {
      this.out.byte(yes ? 1 : 0);
      return Type.Boolean;
    }
    if (Number.isNaN(code)) this.failUnfinished();
    this.failWord();
  }

  private word(word: string): boolean {
    if (!this.text.startsWith(word, this.pos)) return false;
    const after = this.text.charCodeAt(this.pos + word.length);
    if (after > 0x20 && after !== 0x2c && after !== 0x5d && after !== 0x7d) return false;
    this.pos += word.length;
    return true;
  }

  private object(): number {
    const start = this.pos++;
    this.enter();
    const first = this.peek();
    if (first === 0x22 && this.text.charCodeAt(this.pos + 1) === 0x24) {
      const type = this.wrapper();
      if (type !== undefined) {
        this.depth--;
        return type;
      }
      this.pos = start + 1;
      this.peek();
    }
    this.members(first);
    this.depth--;
    return Type.Object;
  }

  /** Reads the object at the cursor as a wrapper; undefined where it is none and must be read again as an object. */
  private wrapper(): number | undefined {
    const { out } = this;
    const [outAt, nameAt, twice] = [out.at, this.pos, this.duplicates.length];
    const read = wrappers.get(this.string('a name'));
    if (read === undefined) return undefined;
    this.take(0x3a, 'a colon');
    const type = read({ cursor: this, out, nameAt, document: () => this.document() });
    if (type === undefined) {
      out.at = outAt;
      this.duplicates.length = twice;
    } else this.take(0x7d, 'the end of the object, where such a value stands alone');
    return type;
  }

  /** An object that is no wrapper, at the cursor. */
  private document(): void {
    this.take(0x7b, 'an object');
    this.enter();
    this.members(this.peek());
    this.depth--;
  }

  private members(first: number): void {
    const { out } = this;
    const start = out.at;
    out.int32(0);
    const seen = new NameHashes();
    let twice = false;
    if (first === 0x7d) this.pos++;
    else {
      for (;;) {
        if (this.peek() !== 0x22) this.failName();
        const nameAt = this.pos;
        const elementAt = out.at;
        out.byte(0);
        const hash = this.stringInto(true);
        const nameEnd = out.at;
        out.byte(0);
        if (seen.add(hash) && this.standsBefore(start + 4, elementAt, nameEnd)) {
          twice = true;
          this.duplicates.push({ name: this.nameAt(nameAt), at: nameAt });
        }
        if (this.peek() !== 0x3a) this.failExpected('a colon after the field name');
        this.pos++;
        const type = this.value();
        out.bytes[elementAt] = type;
        const next = this.peek();
        this.pos++;
        if (next === 0x7d) break;
        if (next !== 0x2c) {
          this.pos--;
          this.failExpected('a comma or the end of the object');
        }
        if (this.peek() === 0x7d) this.fail('The comma before } has no field after it.');
      }
    }
    out.byte(0);
    out.setInt32(start, out.at - start);
    if (twice) this.keepLast(start);
  }

  /** Whether a name written at `elementAt` stands in the object's elements before it. */
  private standsBefore(from: number, elementAt: number, nameEnd: number): boolean {
    const { bytes } = this.out;
    const length = nameEnd - elementAt - 1;
    let at = from;
    while (at < elementAt) {
      const end = bytes.indexOf(0, at + 1);
      if (end - at - 1 === length && sameRange(bytes, at + 1, bytes, elementAt + 1, length)) return true;
      at = payloadEnd(bytes, bytes[at]!, end + 1, elementAt);
    }
    return false;
  }

  private keepLast(start: number): void {
    const { out } = this;
    const written = elementsOf({ bytes: out.bytes, type: Type.Object, start, end: out.at });
    const last = new Map(written.map((element) => [element.name, element]));
    const kept = buildDocument(written.filter((element) => last.get(element.name) === element));
    out.at = start;
    out.put(kept);
  }

  private nameAt(at: number): string {
    const behind = this.pos;
    this.pos = at;
    const name = this.string('a name');
    this.pos = behind;
    return name;
  }

  private array(): number {
    this.pos++;
    this.enter();
    const { out } = this;
    const start = out.at;
    out.int32(0);
    if (this.peek() === 0x5d) this.pos++;
    else {
      for (let index = 0; ; index++) {
        const elementAt = out.at;
        out.byte(0);
        const name = String(index);
        for (let i = 0; i < name.length; i++) out.byte(name.charCodeAt(i));
        out.byte(0);
        const type = this.value();
        out.bytes[elementAt] = type;
        const next = this.peek();
        this.pos++;
        if (next === 0x5d) break;
        if (next !== 0x2c) {
          this.pos--;
          this.failExpected('a comma or the end of the array');
        }
        if (this.peek() === 0x5d) this.fail('The comma before ] has no value after it.');
      }
    }
    out.byte(0);
    out.setInt32(start, out.at - start);
    this.depth--;
    return Type.Array;
  }

  private enter(): void {
    if (++this.depth > deepest) this.fail(`The value is nested deeper than ${deepest} levels.`);
    if (this.out.at > longest) this.fail('The document is far larger than the 16 MB that a server stores.');
  }

  private stringValue(): number {
    const { out } = this;
    const start = out.at;
    out.int32(0);
    this.stringInto(false);
    out.byte(0);
    out.setInt32(start, out.at - start - 4);
    return Type.String;
  }

  /** Writes the string at the cursor as UTF-8 and gives a hash of it. A name may not hold a NUL. */
  private stringInto(isName: boolean): number {
    const { text, out } = this;
    let pos = this.pos + 1;
    let { bytes, at } = out;
    let hash = 0;
    for (;;) {
      if (at + 4 > bytes.length) {
        out.at = at;
        out.ensure(4);
        bytes = out.bytes;
      }
      let code = text.charCodeAt(pos);
      if (code === 0x22) break;
      if (code === 0x5c) {
        this.pos = pos;
        code = this.escape().charCodeAt(0);
        if (code === 0 && isName) this.fail('A field name cannot hold a NUL character.', pos);
        pos = this.pos;
      } else if (code >= 0x20) pos++;
      else {
        this.pos = pos;
        this.failInString(code);
      }
      hash = (Math.imul(hash, 31) + code) | 0;
      if (code < 0x80) bytes[at++] = code;
      else if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6);
        bytes[at++] = 0x80 | (code & 0x3f);
      } else if ((code & 0xf800) !== 0xd800) {
        bytes[at++] = 0xe0 | (code >> 12);
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
        bytes[at++] = 0x80 | (code & 0x3f);
      } else {
        this.pos = pos;
        const point = this.surrogatePair(code);
        pos = this.pos;
        bytes[at++] = 0xf0 | (point >> 18);
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
        bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
        bytes[at++] = 0x80 | (point & 0x3f);
      }
    }
    out.at = at;
    this.pos = pos + 1;
    return hash;
  }

  /** The code point of a surrogate pair whose first half was just read. */
  private surrogatePair(high: number): number {
    const at = this.pos;
    if (at >= this.text.length) this.failUnfinished();
    let low = this.text.charCodeAt(at);
    if (low === 0x5c) low = this.escape().charCodeAt(0);
    else this.pos++;
    if (high >= 0xdc00 || (low & 0xfc00) !== 0xdc00) {
      this.fail('Half a surrogate pair stands alone; it is no character and cannot be stored.', at);
    }
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }

  /** The whole number of at most nine digits at the cursor, or undefined: most numbers are such. */
  private smallInteger(): number | undefined {
    const { text } = this;
    const first = text.charCodeAt(this.pos);
    if (first < 0x31) return undefined;
    let pos = this.pos;
    let value = 0;
    let code = first;
    while (code >= 0x30 && code <= 0x39) {
      value = value * 10 + code - 0x30;
      code = text.charCodeAt(++pos);
    }
    if (pos - this.pos > 9 || !(code === 0x2c || code === 0x7d || code === 0x5d)) return undefined;
    this.pos = pos;
    return value;
  }

  private numberValue(): number {
    const small = this.smallInteger();
    if (small !== undefined) {
      this.out.int32(small);
      return Type.Int32;
    }
    const at = this.pos;
    const { text, whole } = this.number();
    const { out } = this;
    const near = Number(text);
    if (!whole || Object.is(near, -0)) {
      if (!Number.isFinite(near)) this.fail(`${text} is too large for a Double.`, at);
      out.double(near);
      return Type.Double;
    }
    if ((near | 0) === near) {
      out.int32(near);
      return Type.Int32;
    }
    if (Number.isSafeInteger(near)) {
      out.int64(near);
      return Type.Int64;
    }
    const exact = BigInt(text);
    if (BigInt.asIntN(64, exact) === exact) {
      out.bigInt64(exact);
      return Type.Int64;
    }
    if (!Number.isFinite(near) || BigInt(near) !== exact) {
      this.fail(`${text} fits neither a 64-bit integer nor a Double exactly; write {"$numberDecimal": "…"}.`, at);
    }
    out.double(near);
    return Type.Double;
  }
}

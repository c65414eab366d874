import { toEjson } from '../../shared/bson/ejson.ts';
import { fromBase64 } from '../../shared/bson/value.ts';

/** JSON text that goes out as it is: Extended JSON whose key order and names a JavaScript object would not keep. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value of the API, base64 of its bytes, as embedded canonical Extended JSON. */
export function ejson(bson: string): JsonText {
  return new JsonText(toEjson(fromBase64(bson)));
}

/** `JSON.stringify` that takes {@link JsonText} in any place; what is undefined is left out. */
export function stringify(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map((each) => stringify(each)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${stringify(each)}`).join(',')}}`;
}

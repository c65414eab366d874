/** Extended JSON that cannot be read: one plain sentence, and where (both from 1). */
export class EjsonError extends Error {
  constructor(
    message: string,
    readonly line: number,
    readonly column: number,
    /** True where the text ended too early: more text could make it right. */
    readonly unfinished = false,
  ) {
    super(message);
    this.name = 'EjsonError';
  }
}

/** Told of each field that stands twice in one object; the last one is kept, as mongoimport does. */
export type OnDuplicate = (name: string, line: number) => void;

const shellForms: Readonly<Record<string, string>> = {
  ObjectId: '{"$oid": "…"}',
  ISODate: '{"$date": "…"}',
  Date: '{"$date": "…"}',
  NumberLong: '{"$numberLong": "…"}',
  Long: '{"$numberLong": "…"}',
  NumberInt: '{"$numberInt": "…"}',
  Int32: '{"$numberInt": "…"}',
  NumberDecimal: '{"$numberDecimal": "…"}',
  Decimal128: '{"$numberDecimal": "…"}',
  Double: '{"$numberDouble": "…"}',
  UUID: '{"$uuid": "…"}',
  BinData: '{"$binary": {"base64": "…", "subType": "00"}}',
  Binary: '{"$binary": {"base64": "…", "subType": "00"}}',
  HexData: '{"$binary": {"base64": "…", "subType": "00"}}',
  Timestamp: '{"$timestamp": {"t": 0, "i": 0}}',
  RegExp: '{"$regularExpression": {"pattern": "…", "options": ""}}',
  MinKey: '{"$minKey": 1}',
  MaxKey: '{"$maxKey": 1}',
  NaN: '{"$numberDouble": "NaN"}',
  Infinity: '{"$numberDouble": "Infinity"}',
  undefined: '{"$undefined": true}',
  True: 'true',
  False: 'false',
  None: 'null',
};

/** What to say of a word that stands where JSON wants a value. */
export function wordMessage(word: string, call: boolean): string {
  const form = Object.hasOwn(shellForms, word) ? shellForms[word]! : undefined;
  if (form === undefined) return `${word} is no JSON value; text stands in double quotes.`;
  return call
    ? `${word}(…) is mongosh syntax; in a JSON file write ${form}.`
    : `${word} is no JSON value; in a JSON file write ${form}.`;
}

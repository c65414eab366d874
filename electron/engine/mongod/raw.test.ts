import * as fc from 'fast-check';
import { BSON } from 'mongodb';
import { DocumentSequence } from 'mongodb/lib/cmap/commands.js';
import { expect, it } from 'vitest';
import { anyDocument, anyValue } from '../../../shared/bson/arbitrary.ts';
import { documentValue, valueOf, Type } from '../../../shared/bson/value.ts';
import { buildArray, buildDocument, rawElement } from '../../../shared/bson/walk.ts';
import { driverValue } from './raw.ts';

it('a value stands in a command with exactly its bytes, by a name, in an object, in a list', () => {
  fc.assert(
    fc.property(
      anyValue,
      anyValue,
      fc.string({ minLength: 1 }).filter((name) => !name.includes('\0') && !name.includes('\u0007')),
      (a, b, name) => {
        const sent = BSON.serialize(
          { find: 'c', [`x${name}`]: driverValue(a), in: { $in: [driverValue(b), driverValue(a)] }, last: true },
          { ignoreUndefined: true },
        );
        const list = valueOf(Type.Array, buildArray([b, a]));
        const wanted = buildDocument([
          rawElement('find', new Uint8Array([Type.String, 2, 0, 0, 0, 0x63, 0])),
          rawElement(`x${name}`, a),
          rawElement('in', documentValue(buildDocument([rawElement('$in', list)]))),
          rawElement('last', new Uint8Array([Type.Boolean, 1])),
        ]);
        expect(Buffer.compare(sent, wanted)).toBe(0);
      },
    ),
  );
});

it('a sequence of documents carries their bytes as they are', () => {
  fc.assert(
    fc.property(fc.array(anyDocument, { minLength: 1, maxLength: 4 }), (documents) => {
      const sequence = new DocumentSequence('documents');
      for (const each of documents) sequence.push({}, each);
      const sent = Buffer.from((sequence as unknown as { toBin: () => Uint8Array }).toBin());
      const header = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from('documents\0')]);
      header.writeInt32LE(header.length - 1 + documents.reduce((sum, { length }) => sum + length, 0), 1);
      expect(Buffer.compare(sent, Buffer.concat([header, ...documents]))).toBe(0);
    }),
  );
});

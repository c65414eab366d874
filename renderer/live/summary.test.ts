import { expect, it } from 'vitest';
import type { Change } from '../../shared/api.ts';
import { documentValue, toBase64 } from '../../shared/bson/value.ts';
import { buildDocument } from '../../shared/bson/walk.ts';
import { summaryOf } from './summary.ts';

const time = '2026-01-01T00:00:00.000Z';
const before = toBase64(documentValue(buildDocument([])));

it.each([
  ['insert', {}, 'a new bucket of measurements, compared in Review'],
  ['update', { before }, 'measurements of a bucket written, compared in Review'],
  ['update', {}, 'measurements of a bucket written, compared in Review'],
  ['delete', { before }, 'a bucket of measurements removed, compared in Review'],
])('an %s of measurements does not look like one of a document whose images are missing', (op, sides, words) => {
  const change: Change = { seq: 1, time, op, ns: 'd.w', detail: { timeSeries: true }, ...sides };
  expect(summaryOf(change)).toEqual({ words, fields: [] });
});

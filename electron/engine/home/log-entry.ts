import { randomBytes } from 'node:crypto';
import type { LogRecord } from './records.ts';

/** What happened, before it has an id and a time. */
export type NewEntry = Omit<LogRecord, '_id' | 'time'>;

/** An entry of the log for what happens now; its id begins with its kind. */
export function logEntry(entry: NewEntry): LogRecord {
  return { _id: `${entry.kind}-${randomBytes(4).toString('hex')}`, time: new Date(), ...entry };
}

/** What occurs in many methods, and how one is declared. */
import { z } from 'zod';

/** Base64 of a BSON value: its type byte followed by its bytes as they stand in a document. */
export const Bson = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);
export type Bson = z.infer<typeof Bson>;

/** A time, ISO 8601 in UTC. */
export const Time = z.string();

/** `database.collection` */
export const Namespace = z.string();

/** Names and array indexes from the document's root. */
export const FieldPath = z.array(z.union([z.string(), z.number().int().nonnegative()]));
export type FieldPath = z.infer<typeof FieldPath>;

export const AccessLevel = z.enum(['schema', 'readWrite', 'read']);
export type AccessLevel = z.infer<typeof AccessLevel>;

export const ChangeKind = z.enum(['added', 'modified', 'removed']);
export type ChangeKind = z.infer<typeof ChangeKind>;

/** One method: what it takes and what it answers. */
export const method = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O) => ({ input, output });

/**
 * Every method of the engine, declared once, by subject, in `api/`: `name -> {input, output}`, as zod schemas.
 * The engine's service, the RPC client, the command line and the renderer are all typed from here.
 *
 * Documents and values cross as {@link Bson}: base64 of one type byte (0x03 for a document) and the value's exact bytes.
 * `shared/bson` turns them into trees, canonical Extended JSON text, and back. They never cross as JavaScript objects:
 * those lose number types, key order, duplicate names and `__proto__`.
 */
import type { z } from 'zod';
import { branchApi } from './api/branches.ts';
import { changeApi } from './api/changes.ts';
import { dataApi } from './api/data.ts';
import { engineApi } from './api/engine.ts';
import { planApi } from './api/plans.ts';
import { restoreApi } from './api/restore.ts';

export * from './api/branches.ts';
export * from './api/changes.ts';
export * from './api/data.ts';
export * from './api/engine.ts';
export * from './api/frames.ts';
export * from './api/plans.ts';
export * from './api/restore.ts';
export * from './api/values.ts';

export const api = { ...engineApi, ...branchApi, ...dataApi, ...changeApi, ...planApi, ...restoreApi } as const;

export type Api = typeof api;
export type Method = keyof Api;
/** What a caller passes. */
export type Input<M extends Method> = z.input<Api[M]['input']>;
/** What the engine gets after parsing. */
export type Parsed<M extends Method> = z.output<Api[M]['input']>;
export type Output<M extends Method> = z.output<Api[M]['output']>;

import { SchemaTarget, type Decision, type Target } from '../../shared/api.ts';
import { EjsonError, parseEjson, parseId } from '../../shared/bson/ejson.ts';
import { toBase64, type BsonValue } from '../../shared/bson/value.ts';
import { ForkyardError } from '../../shared/errors.ts';

/**
 * `NS[:ID[:PATH]]` or `schema:NS[:TYPE[:NAME]]`. NS is up to the first colon. ID is a complete Extended JSON value and may
 * hold colons of its own; text that is none is a string, and ends where the last `:/` begins that is not `://` (quote an id
 * for which that is wrong). PATH is a JSON pointer. Its segments stay text: the engine takes digits as a name or as an
 * array index, whichever is there. Throws `usage`.
 */
export function parseTarget(text: string): Target {
  if (text.startsWith(schemaPrefix)) return parseSchemaTarget(text.slice(schemaPrefix.length));
  const colon = text.indexOf(':');
  const ns = colon < 0 ? text : text.slice(0, colon);
  const dot = ns.indexOf('.');
  if (dot < 1 || dot === ns.length - 1) {
    throw new ForkyardError('usage', `"${ns}" is not a namespace.`, {
      hint: 'Write database.collection, as in shop.products.',
    });
  }
  if (colon < 0) return { ns };
  const { id, pointer } = splitId(text.slice(colon + 1));
  if (id === '') throw new ForkyardError('usage', `"${text}" has no _id after its colon.`, { hint: targetHint });
  const path = parsePointer(pointer);
  return { ns, id: toBase64(parseId(id)), ...(path.length === 0 ? {} : { path }) };
}

/** No database is called so: a namespace holds a dot before its first colon. */
const schemaPrefix = 'schema:';

/** `NS[:TYPE[:NAME]]`; an index's name may hold colons. */
function parseSchemaTarget(text: string): Target {
  const [ns = '', type, ...name] = text.split(':');
  const target = parseTarget(ns);
  const parsed = SchemaTarget.safeParse({
    ...(type === undefined ? {} : { type }),
    ...(name.length === 0 ? {} : { name: name.join(':') }),
  });
  if (parsed.success) return { ...target, schema: parsed.data };
  throw new ForkyardError('usage', `"${type}" is not a kind of schema item.`, {
    hint: 'Write schema:NS:TYPE, with collection, options, validator, view, index or rename.',
  });
}

/**
 * `NS:ID[:PATH]=BRANCH` or `schema:NS[:TYPE[:NAME]]=BRANCH`: take that branch's side, named behind the last `=`.
 * `NS:ID[:PATH]=@VALUE`: an edited result. VALUE is complete Extended JSON, its types exact, and begins behind the first `=@`
 * for which that is so. Throws `usage`.
 */
export function parseTake(text: string): Decision {
  const edited = parseEdited(text);
  if (edited) return edited;
  const equals = text.lastIndexOf('=');
  const side = text.slice(equals + 1);
  if (equals < 0 || !/^[^\s"'{}[\]:/@]+$/.test(side)) {
    const value = text.indexOf('=@');
    if (value > 0) {
      throw new ForkyardError('usage', `"${text.slice(value + 2)}" is not Extended JSON.`, {
        hint: 'Write NS:ID[:PATH]=@VALUE, as in \'shop.products:"p2":/price=@{"$numberInt":"5"}\' or =@"a text".',
      });
    }
    throw new ForkyardError('usage', `"${text}" does not end in =BRANCH.`, {
      hint: 'Write NS:ID[:PATH]=BRANCH, as in \'shop.products:"p2":/price=main\', or =@VALUE for a value of your own.',
    });
  }
  const target = parseTarget(text.slice(0, equals));
  if (target.id === undefined && target.schema === undefined) throw namesNoDocument(text);
  return { target, take: { side } };
}

/** Undefined where no `=@` has complete Extended JSON behind it. */
function parseEdited(text: string): Decision | undefined {
  for (let at = text.indexOf('=@'); at >= 0; at = text.indexOf('=@', at + 2)) {
    const value = parsedValue(text.slice(at + 2));
    if (value === undefined) continue;
    const target = parseTarget(text.slice(0, at));
    if (target.id === undefined) throw namesNoDocument(text);
    return { target, take: { value: toBase64(value) } };
  }
  return undefined;
}

function parsedValue(text: string): BsonValue | undefined {
  try {
    return parseEjson(text);
  } catch (error) {
    if (error instanceof EjsonError) return undefined;
    throw error;
  }
}

function namesNoDocument(text: string): ForkyardError {
  return new ForkyardError('usage', `"${text}" names no document.`, { hint: targetHint });
}

const targetHint = 'Write NS:ID[:PATH], as in \'shop.products:"p1":/price\'.';

function splitId(rest: string): { id: string; pointer: string } {
  const end = valueEnd(rest);
  if (end !== undefined) {
    const after = rest.slice(end);
    if (after === '' || after === ':' || after.startsWith(':/'))
      return { id: rest.slice(0, end), pointer: after.slice(1) };
  }
  const at = lastPathStart(rest);
  return at === undefined ? { id: rest, pointer: '' } : { id: rest.slice(0, at), pointer: rest.slice(at + 1) };
}

/** Behind the string, object or array that `text` begins with; undefined where it begins with none or that never ends. */
function valueEnd(text: string): number | undefined {
  if (!/^["{[]/.test(text)) return undefined;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted && char === '\\') at++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === '{' || char === '[')) depth++;
    else if (!quoted && (char === '}' || char === ']')) depth--;
    if (!quoted && depth === 0) return at + 1;
  }
  return undefined;
}

function lastPathStart(text: string): number | undefined {
  for (let at = text.lastIndexOf(':/'); at >= 0; at = at === 0 ? -1 : text.lastIndexOf(':/', at - 1)) {
    if (text[at + 2] !== '/') return at;
  }
  return undefined;
}

/** RFC 6901. */
function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) {
    throw new ForkyardError('usage', `"${pointer}" is not a path.`, {
      hint: 'Write a JSON pointer, as in /address/city or /lines/0/price; ~ is ~0 and / is ~1.',
    });
  }
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

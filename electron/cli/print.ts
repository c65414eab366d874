import type { ErrorBody } from '../../shared/errors.ts';
import { shellText } from '../../shared/bson/ejson.ts';
import { fromBase64 } from '../../shared/bson/value.ts';
import { ejson, JsonText, stringify } from './json.ts';

export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Where a command's answer goes. Under `--json` stdout gets one JSON value and nothing else. */
export interface Printer {
  readonly json: boolean;
  /** The answer: `value` under `--json`, else the text, which is made only then. */
  result(value: () => unknown, text: () => string): void;
  /** One JSON value on a line of its own, with and without `--json`. */
  line(value: unknown): void;
  /** Something to know that is no part of the answer, on stderr. */
  notice(text: string): void;
  /** A line that replaces itself while something runs; nothing where stderr is no terminal. */
  progress(text: string): void;
  error(body: ErrorBody): void;
}

export function printer(json: boolean, out: Stream, err: Stream): Printer {
  let progressing = false;
  const clear = (): void => {
    if (progressing) err.write('\r\x1b[K');
    progressing = false;
  };
  return {
    json,
    result(value, text) {
      clear();
      const shown = json ? stringify(value()) : text();
      if (shown !== '') out.write(`${shown}\n`);
    },
    line(value) {
      out.write(`${stringify(value)}\n`);
    },
    notice(text) {
      clear();
      err.write(`${json ? stringify({ notice: text }) : text}\n`);
    },
    progress(text) {
      if (json || err.isTTY !== true) return;
      err.write(`\r\x1b[K${text}`);
      progressing = true;
    },
    error(body) {
      clear();
      err.write(`${json ? stringify({ error: errorJson(body) }) : errorText(body)}\n`);
    },
  };
}

function errorJson({ code, message, hint, retry, details }: ErrorBody): unknown {
  return { ...(withIds(details ?? {}) as object), code, message, hint, retry };
}

function errorText({ message, hint, details }: ErrorBody): string {
  const moved = Array.isArray(details?.['moved']) ? details['moved'] : [];
  return [
    message,
    ...moved.slice(0, 20).map((each) => `  ${documentText(each)}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ].join('\n');
}

interface Named {
  readonly ns: string;
  readonly id?: string;
}

function documentText(named: unknown): string {
  const { ns, id } = named as Named;
  return id === undefined ? ns : `${ns} ${shellText(fromBase64(id))}`;
}

/** Details name documents as the API does, `{ns, id}` with the id's bytes; here they are readable. */
function withIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withIds(each));
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return value;
  const named = value as Record<string, unknown>;
  const isDocument = typeof named['ns'] === 'string' && typeof named['id'] === 'string';
  return Object.fromEntries(
    Object.entries(named).map(([name, each]) => [
      name,
      name === 'id' && isDocument ? ejson(each as string) : withIds(each),
    ]),
  );
}

/**
 * Errors as a user meets them: one sentence, a hint, and an exit code. Everything else that is thrown is a bug.
 *
 * The exit codes are a contract for scripts: 0 done, 1 failed, 2 usage, 3 conflicts or a stale plan, 4 unknown name.
 */
export const exitCodes = {
  usage: 2,
  name_invalid: 2,
  ttl_invalid: 2,
  query_invalid: 2,
  unknown_branch: 4,
  unknown_plan: 4,
  unknown_pin: 4,
  unknown_entry: 4,
  unknown_file: 4,
  unknown_collection: 4,
  conflicts: 3,
  plan_stale: 3,
  undo_refused: 3,
  restore_incomplete: 3,
  name_taken: 1,
  main_protected: 1,
  has_children: 1,
  branch_not_live: 1,
  branch_failed: 1,
  open_transactions: 1,
  source_unreadable: 1,
  source_unreachable: 1,
  import_parse: 1,
  import_problems: 1,
  no_space: 1,
  no_images: 1,
  not_writable_exactly: 1,
  write_refused: 1,
  query_refused: 1,
  query_slow: 1,
  schema_unsupported: 1,
  mongod_missing: 1,
  mongod_too_old: 1,
  mongod_failed: 1,
  engine_running: 1,
  engine_unreachable: 1,
  engine_stopped: 1,
  engine_old: 1,
  web_refused: 1,
  aborted: 1,
  internal: 1,
} as const;

export type ErrorCode = keyof typeof exitCodes;

/** An error as it crosses a transport and as `--json` prints it on stderr. `details` holds what is named, e.g. `moved`. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly retry: boolean;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

interface ErrorOptions {
  /** What the user can do about it. */
  readonly hint?: string;
  /** True where the same call may succeed later without any change. */
  readonly retry?: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An expected failure, told to the user as it is. */
export class ForkyardError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retry: boolean;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ForkyardError';
    this.code = code;
    this.hint = options.hint;
    this.retry = options.retry ?? false;
    this.details = options.details;
  }

  static from(body: ErrorBody): ForkyardError {
    return new ForkyardError(body.code, body.message, {
      ...(body.hint === undefined ? {} : { hint: body.hint }),
      ...(body.details === undefined ? {} : { details: body.details }),
      retry: body.retry,
    });
  }

  toBody(): ErrorBody {
    return { code: this.code, message: this.message, hint: this.hint, retry: this.retry, details: this.details };
  }
}

/** The body of any thrown value; an unexpected one becomes `internal` with its secrets taken out. */
export function errorBody(error: unknown): ErrorBody {
  if (error instanceof ForkyardError) return error.toBody();
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'internal',
    message: `Something went wrong inside Forkyard: ${redact(message)}`,
    hint: 'This is a bug. The engine log in the data folder has the details.',
    retry: false,
  };
}

/** Takes the credentials out of every MongoDB URI in a text, also where the password was pasted unescaped. */
export function redact(text: string): string {
  return text.replace(/(mongodb(?:\+srv)?:\/\/)([^\s'"`]*)@/gi, '$1***@');
}

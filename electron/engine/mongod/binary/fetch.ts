/** Progress as a user reads it: one line, and bytes where they are known. */
export interface Progress {
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
}

export interface FetchOptions {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Brings a server into `folder` as `mongod` (`mongod.exe`), executable, whole, and nothing else beside it. Throws an Error
 * whose message is a clause fit for "… failed: ", with a `hint` where the user can do something.
 */
export type Fetch = (folder: string, options: FetchOptions) => Promise<void>;

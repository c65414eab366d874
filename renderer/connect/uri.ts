/** A connection string taken apart at its password. */
export interface UriParts {
  readonly before: string;
  readonly password: string | undefined;
  readonly after: string;
}

/** Splits at the password, so that it can be hidden or left out. */
export function uriParts(uri: string): UriParts {
  const match = /^([a-z+]+:\/\/[^:@/]+):([^@]*)(@.*)$/is.exec(uri);
  if (match === null) return { before: uri, password: undefined, after: '' };
  return { before: match[1] ?? '', password: match[2] ?? '', after: match[3] ?? '' };
}

/** Without user and password: where it leads, for a log or a bug report. */
export function withoutPassword(uri: string): string {
  const { before, password, after } = uriParts(uri);
  return password === undefined ? uri : `${before}${after}`;
}

/** Dots in the password's place, wherever it stands in `text`. */
export function hidePassword(text: string, uri: string): string {
  const { password } = uriParts(uri);
  return password === undefined || password === '' ? text : text.split(password).join('••••••••');
}

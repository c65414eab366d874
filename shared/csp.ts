/**
 * The content security policy of the app's pages: nothing but the app's own files, no eval, nothing from elsewhere.
 * Styles may be inline, since a virtual list places its rows by them; scripts may not. `connect` are the extra addresses
 * that scripts may open.
 */
export function contentSecurityPolicy(connect: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...connect].join(' ')}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

import { useState } from 'react';
import { CopyButton, IconButton } from '../shell/controls.tsx';
import { uriParts, withoutPassword } from './uri.ts';

/** A connection string on one line, its password dots until the eye is pressed. */
export function UriLine({
  uri,
  keys,
  short = false,
}: {
  readonly uri: string;
  readonly keys?: string;
  /** Where room is scarce: without the button that leaves the password out. */
  readonly short?: boolean;
}) {
  const [shown, setShown] = useState(false);
  const { before, password, after } = uriParts(uri);
  return (
    <div className="uri">
      <span className="t cut selectable" data-testid="uri">
        {before}
        {password === undefined ? null : (
          <>
            :
            {shown ? (
              password
            ) : (
              <span className="hide">
                <span aria-hidden="true">••••••••</span>
                <span className="sr">password hidden</span>
              </span>
            )}
          </>
        )}
        {after}
      </span>
      {password === undefined ? null : (
        <>
          <IconButton
            look="bare"
            label={shown ? 'Hide password' : 'Show password'}
            icon={shown ? 'eye-off' : 'eye'}
            aria-pressed={shown}
            onClick={() => setShown(!shown)}
          />
          {short ? null : (
            <CopyButton label="URI without password" text={() => withoutPassword(uri)}>
              Without password
            </CopyButton>
          )}
        </>
      )}
      <CopyButton label="URI" text={() => uri} keys={keys}>
        Copy URI
      </CopyButton>
    </div>
  );
}

import { useRef } from 'react';
import { Button, CopyButton } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { bytes, count } from '../shell/numbers.ts';
import { openDialog, pinByName, pinKey, useApp } from '../store/app.ts';
import { pinOrigin, pinWords } from './pins.ts';

/** What a pin holds, with its hash; from here it is forked or removed. */
export function PinnedDialog({ name }: { readonly name: string }) {
  const pin = useApp((app) => pinByName(app, name));
  const forks = useRef<HTMLButtonElement>(null);
  if (pin === undefined) return null;
  return (
    <Dialog
      title={name}
      lead={`${pinOrigin(pin)}, read-only. ${pinWords(pin)}.`}
      width={560}
      initialFocus={forks}
      foot={
        <>
          <Button size="medium" look="danger" icon="trash" onClick={() => openDialog({ kind: 'unpin', pin: name })}>
            Remove…
          </Button>
          <span className="push" />
          <Button
            size="medium"
            look="primary"
            icon="fork"
            ref={forks}
            onClick={() => openDialog({ kind: 'fork', from: pinKey(name) })}
          >
            Fork it…
          </Button>
        </>
      }
    >
      <div className="dialog-text pin-facts">
        <table className="ptable">
          <thead>
            <tr>
              <th scope="col">Collection</th>
              <th scope="col">documents</th>
              <th scope="col">size</th>
            </tr>
          </thead>
          <tbody>
            {pin.collections.map((collection) => (
              <tr key={collection.ns}>
                <th scope="row" className="mono">
                  {collection.ns}
                </th>
                <td>{count(collection.documents)}</td>
                <td>{bytes(collection.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div className="pin-hash">
          <span className="soft">SHA-256</span>
          <span className="mono cut" title={pin.hash}>
            {pin.hash}
          </span>
          <CopyButton iconOnly look="bare" label="hash" text={() => pin.hash} />
        </div>
        <p className="soft">The hash covers all documents, options, indexes and views. Equal hashes are equal data.</p>
      </div>
    </Dialog>
  );
}

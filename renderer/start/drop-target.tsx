import { useEffect, useState } from 'react';
import { Icon } from '../shell/icons.tsx';
import { openDialog, useApp } from '../store/app.ts';
import { fileTypes } from './file-import.ts';

/** Files dropped anywhere on the window are to be imported into main. */
export function DropTarget() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    // Entering a child comes before leaving its parent.
    let depth = 0;
    const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
    const isFree = (): boolean => {
      const { dialog, connection } = useApp.getState();
      return (dialog === undefined || dialog.kind === 'import') && connection.kind !== 'refused';
    };
    const onEnter = (event: DragEvent): void => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth += 1;
      setOver(isFree());
    };
    const onOver = (event: DragEvent): void => {
      if (!carriesFiles(event)) return;
      // Without this the browser would open the file in the window's place.
      event.preventDefault();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = isFree() ? 'copy' : 'none';
    };
    const onLeave = (event: DragEvent): void => {
      if (!carriesFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0 && isFree()) openDialog({ kind: 'import', files });
    };
    const listeners = { dragenter: onEnter, dragover: onOver, dragleave: onLeave, drop: onDrop } as const;
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name as 'drop', listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name as 'drop', listener);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="drop-over" aria-hidden="true">
      <div className="drop-word">
        <Icon name="import" />
        <b>Drop to import into main</b>
        <span className="soft">{fileTypes.join(' ')}</span>
      </div>
    </div>
  );
}

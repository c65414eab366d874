import type { Change } from '../../../shared/api.ts';
import { keyText } from '../../../shared/bson/key.ts';
import { documentBytes, fromBase64, sameBytes } from '../../../shared/bson/value.ts';
import { documentText, type Snapshot } from './snapshot.ts';

/**
 * A model of one branch, kept by its history alone: every collection's documents as bytes. It is the replica that a branch
 * has to equal at every moment, and it notices where a change does not begin where the one before it ended.
 */
export class Replay {
  readonly problems: string[] = [];
  /** `null`: the history does not tell what the document is. */
  private readonly collections = new Map<string, Map<string, Uint8Array | null>>();

  constructor(start: Snapshot) {
    for (const [ns, documents] of start) this.collections.set(ns, new Map(documents));
  }

  apply(change: Change): void {
    const { op, ns = '', detail } = change;
    if (change.id !== undefined) return this.document(change);
    if (op === 'drop') this.collections.delete(ns);
    else if (op === 'dropDatabase') {
      for (const name of [...this.collections.keys()]) if (name.startsWith(`${ns}.`)) this.collections.delete(name);
    } else if (op === 'rename') {
      const moved = this.collections.get(ns);
      this.collections.delete(ns);
      this.collections.delete(String(detail?.['to']));
      if (moved) this.collections.set(String(detail?.['to']), moved);
    }
  }

  private document({ seq, op, ns = '', id, ...images }: Change): void {
    const before = images.before === undefined ? undefined : documentBytes(fromBase64(images.before));
    const after = images.after === undefined ? undefined : documentBytes(fromBase64(images.after));
    let documents = this.collections.get(ns);
    if (!documents) this.collections.set(ns, (documents = new Map<string, Uint8Array | null>()));
    const key = keyText(fromBase64(id!));
    const known = documents.get(key);
    const untold = op !== 'insert' && op !== 'gap' && before === undefined;
    if (known !== null && !untold && !sameBytes(known, before)) {
      this.problems.push(
        `change ${seq} (${op} ${ns}) begins with ${documentText(before)}, the one before ended with ${documentText(known)}`,
      );
    }
    const removed = op === 'delete' || (op === 'gap' && after === undefined);
    if (removed) documents.delete(key);
    else documents.set(key, after ?? null);
  }

  /** Where a branch's documents are not what its history says, in words. */
  differences(found: Snapshot): string[] {
    const differences: string[] = [];
    for (const ns of new Set([...this.collections.keys(), ...found.keys()])) {
      const [model, real] = [this.collections.get(ns), found.get(ns)];
      for (const key of new Set([...(model?.keys() ?? []), ...(real?.keys() ?? [])])) {
        const [expected, there] = [model?.get(key), real?.get(key)];
        if (expected === null || !sameBytes(expected, there))
          differences.push(
            `${ns}: by its history ${expected === null ? 'unknown' : documentText(expected)}, really ${documentText(there)}`,
          );
      }
    }
    return differences;
  }

  /** The documents as they are by now. */
  snapshot(): Snapshot {
    const copy: Snapshot = new Map();
    for (const [ns, documents] of this.collections) {
      const known = [...documents].flatMap(([key, bytes]) => (bytes ? [[key, bytes] as const] : []));
      if (known.length > 0) copy.set(ns, new Map(known));
    }
    return copy;
  }
}

import type { Bson } from '../../shared/api.ts';
import { chooseBranch } from '../store/app.ts';

/** The one document whose writes are wanted. */
export interface DocumentRef {
  readonly ns: string;
  readonly id: Bson;
}

let request: DocumentRef | undefined;

/** Opens the feed of a branch on the whole history of one document. */
export function showInLive(branch: string, document: DocumentRef): void {
  request = document;
  chooseBranch(branch, 'live');
}

/** The document asked for by another view; given once. */
export function takeDocumentRequest(): DocumentRef | undefined {
  const document = request;
  request = undefined;
  return document;
}

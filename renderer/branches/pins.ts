import type { Pin } from '../../shared/api.ts';
import { bytes, plural } from '../shell/numbers.ts';
import { moment } from '../shell/time.ts';

/** What a pin holds: bytes of documents, uncompressed, without indexes. */
export function pinSize(pin: Pin): { readonly documents: number; readonly bytes: number } {
  const size = { documents: 0, bytes: 0 };
  for (const collection of pin.collections) {
    size.documents += collection.documents;
    size.bytes += collection.bytes;
  }
  return size;
}

/** `12 documents in 3 collections, 1.2 MB` */
export function pinWords(pin: Pin): string {
  const { documents, bytes: size } = pinSize(pin);
  return `${plural(documents, 'document')} in ${plural(pin.collections.length, 'collection')}, ${bytes(size)}`;
}

/** `main as it was at 15:16` */
export function pinOrigin({ branch, createdAt }: Pin): string {
  return `${branch} as it was at ${moment(createdAt, Date.now())}`;
}

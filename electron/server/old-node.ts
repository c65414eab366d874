/**
 * What the driver takes for granted and Node 16, in the oldest Electron this runs in (22), lacks. Imported before anything
 * that loads the driver. Delete it with that Electron.
 */
import { webcrypto } from 'node:crypto';

globalThis.crypto ??= webcrypto as Crypto;

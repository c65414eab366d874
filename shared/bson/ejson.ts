/** Extended JSON: the text form of values on the command line, in files and for people. */
export { EjsonError, type OnDuplicate } from './ejson-error.ts';
export { parseEjson, parseId } from './ejson-parse.ts';
export { EjsonReader } from './ejson-reader.ts';
export { toEjson } from './ejson-write.ts';
export { shellText } from './shell-text.ts';

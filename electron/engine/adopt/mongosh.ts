import { toEjson } from '../../../shared/bson/ejson.ts';
import { documentValue } from '../../../shared/bson/value.ts';
import { splitNamespace } from '../changes/touched.ts';
import type { PlanItemRecord, SchemaStep } from '../home/plans.ts';

/** What a plan does, as text for mongosh: to read, and to run elsewhere. Documents are canonical Extended JSON. */
export function mongoshText(schema: readonly SchemaStep[], items: readonly PlanItemRecord[]): string {
  const lines: string[] = [];
  for (const step of schema) {
    const [db] = splitNamespace(step.ns);
    lines.push(`db.getSiblingDB(${quoted(db)}).runCommand(EJSON.parse(${quoted(step.command)}))`);
  }
  for (const item of items) {
    const [db, name] = splitNamespace(item.ns);
    const collection = `db.getSiblingDB(${quoted(db)}).getCollection(${quoted(name)})`;
    const filter = `EJSON.parse(${quoted(`{"_id":${toEjson(item.key)}}`)})`;
    const document = item.result && `EJSON.parse(${quoted(toEjson(documentValue(item.result)))})`;
    if (!document) lines.push(`${collection}.deleteOne(${filter})`);
    else if (item.expect) lines.push(`${collection}.replaceOne(${filter}, ${document})`);
    else lines.push(`${collection}.insertOne(${document})`);
  }
  return lines.join('\n');
}

/** A JavaScript string; in single quotes where that spares the escaping of Extended JSON's double ones. */
function quoted(text: string): string {
  if (!text.includes('"')) return JSON.stringify(text);
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escaped}'`;
}

import { describe, expect, it } from 'vitest';
import {
  chosenDocuments,
  collectionState,
  collectionsState,
  documentState,
  everything,
  hasField,
  keepNamed,
  namedDocuments,
  nothing,
  partialDocuments,
  planTargets,
  schemaState,
  withCollection,
  withCollections,
  withDocument,
  withFields,
  withSchema,
  withSchemaItem,
} from './selection.ts';

const ns = 'shop.products';
const all = [['price'], ['stock'], ['tags', 0]];
const fieldsOf = () => all;

describe('a selection', () => {
  it('is everything by default, and says so in the shortest plan', () => {
    expect(collectionState(everything, ns)).toBe('on');
    expect(documentState(everything, ns, 'p1')).toBe('on');
    expect(planTargets(everything, [ns], [], fieldsOf)).toEqual({});
  });

  it('keeps only what differs from its default', () => {
    const without = withDocument(everything, ns, 'p1', false);
    expect(collectionState(without, ns)).toBe('part');
    expect(withDocument(without, ns, 'p1', true)).toEqual(everything);
  });

  it('leaves the earlier value as it was', () => {
    withDocument(everything, ns, 'p1', false);
    expect(documentState(everything, ns, 'p1')).toBe('on');
  });

  it('names left-out documents and fields as exceptions', () => {
    const one = withDocument(everything, ns, 'p1', false);
    const two = withFields(one, ns, 'p2', [['stock']], false, all);
    expect(documentState(two, ns, 'p2')).toBe('part');
    expect(hasField(two, ns, 'p2', ['stock'])).toBe(false);
    expect(hasField(two, ns, 'p2', ['price'])).toBe(true);
    expect(planTargets(two, [ns], [], fieldsOf)).toEqual({
      except: [
        { ns, id: 'p1' },
        { ns, id: 'p2', path: ['stock'] },
      ],
    });
  });

  it('names what is picked out of a collection that is left out', () => {
    const picked = withFields(withDocument(nothing, ns, 'p1', true), ns, 'p2', [['tags', 0]], true, all);
    expect(planTargets(picked, [ns, 'shop.orders'], [], fieldsOf)).toEqual({
      only: [
        { ns, id: 'p1' },
        { ns, id: 'p2', path: ['tags', 0] },
      ],
      documentsOnly: true,
    });
  });

  it('excepts the other fields when one is picked back from a document that was left out', () => {
    const left = withDocument(everything, ns, 'p1', false);
    const picked = withFields(left, ns, 'p1', [['price']], true, all);
    expect(planTargets(picked, [ns], [], fieldsOf)).toEqual({
      except: [
        { ns, id: 'p1', path: ['stock'] },
        { ns, id: 'p1', path: ['tags', 0] },
      ],
    });
  });

  it('turns a document over once each of its fields differs', () => {
    const none = withFields(everything, ns, 'p1', all, false, all);
    expect(documentState(none, ns, 'p1')).toBe('off');
    expect(partialDocuments(none)).toEqual([]);
    expect(withFields(none, ns, 'p1', all, true, all)).toEqual(everything);
  });

  it('tells a name with a dot from a path', () => {
    const fields = [['a.b'], ['a', 'b']];
    const selection = withFields(everything, ns, 'p1', [['a.b']], false, fields);
    expect(hasField(selection, ns, 'p1', ['a.b'])).toBe(false);
    expect(hasField(selection, ns, 'p1', ['a', 'b'])).toBe(true);
  });

  it('forgets what differed inside when a collection is chosen as a whole', () => {
    const selection = withCollection(withDocument(everything, ns, 'p1', false), ns, true);
    expect(selection).toEqual(everything);
    expect(withCollections(withDocument(everything, ns, 'p1', false), false)).toEqual({ ...nothing, schema: true });
  });

  it('names schema items by themselves', () => {
    const index = { ns, type: 'index', kind: 'added', name: 'sku_1' } as const;
    const carts = { ns: 'shop.carts', type: 'collection', kind: 'added' } as const;
    const items = [index, carts];
    const namespaces = [ns, 'shop.orders'];
    const target = { ns, schema: { type: 'index', kind: 'added', name: 'sku_1' } };
    const without = withSchemaItem(everything, index, false);
    expect(schemaState(without, items)).toBe('part');
    expect(planTargets(without, namespaces, items, fieldsOf)).toEqual({ except: [target] });
    expect(withSchemaItem(without, index, true)).toEqual(everything);
    // Without the documents of its collection.
    expect(planTargets(withCollection(everything, ns, false), namespaces, items, fieldsOf)).toEqual({
      only: [{ ns: 'shop.orders' }, target, { ns: 'shop.carts', schema: { type: 'collection', kind: 'added' } }],
    });
    expect(planTargets(withSchemaItem(nothing, index, true), namespaces, items, fieldsOf)).toEqual({ only: [target] });
    expect(planTargets(withSchema(everything, false), namespaces, items, fieldsOf)).toEqual({ documentsOnly: true });
  });

  it('counts documents, partly chosen ones too, and passes over those that cannot be chosen', () => {
    const selection = withFields(withDocument(everything, ns, 'p1', false), ns, 'p2', [['price']], false, all);
    expect(chosenDocuments(selection, ns, 10)).toBe(9);
    expect(chosenDocuments(selection, ns, 9, (id) => id !== 'p1')).toBe(9);
    expect(chosenDocuments(withDocument(nothing, ns, 'p1', true), ns, 10)).toBe(1);
  });

  it('forgets documents that are no change any more', () => {
    const picked = withDocument(withDocument(nothing, ns, 'p1', true), ns, 'p2', true);
    const kept = keepNamed(picked, (_, id) => id !== 'p1');
    expect(namedDocuments(kept)).toEqual([{ ns, id: 'p2' }]);
    expect(keepNamed(kept, () => false)).toEqual(nothing);
    expect(keepNamed(picked, () => true)).toBe(picked);
  });

  it('tells the state of several collections together', () => {
    expect(collectionsState(everything, [ns, 'shop.orders'])).toBe('on');
    expect(collectionsState(withCollection(everything, ns, false), [ns, 'shop.orders'])).toBe('part');
    expect(collectionsState(nothing, [ns])).toBe('off');
    expect(collectionsState(everything, [])).toBe('off');
  });
});

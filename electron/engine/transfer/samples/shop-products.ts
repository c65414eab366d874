import { BSON, Double, Int32, Long } from 'mongodb';
import { money, Random } from './random.ts';
import { finishes, fixedArticles, freeNumbers, materials, ranges, suppliers } from './shop-words.ts';

export interface Article {
  readonly sku: string;
  readonly name: string;
  readonly cents: number;
  readonly stock: number;
  readonly range: (typeof ranges)[number];
}

export const articleCount = ranges.reduce((sum, { count }) => sum + count, 0);

let known: readonly Article[] | undefined;

/** The shop's 2,480 articles, by number. */
export function articles(): readonly Article[] {
  return (known ??= ranges.flatMap(articlesOf));
}

function articlesOf(range: Article['range'], index: number): Article[] {
  const random = new Random(1000 + index);
  const fixed = fixedArticles.filter(([sku]) => sku.startsWith(range.prefix));
  const taken = new Set([...fixed.map(([sku]) => sku), ...freeNumbers]);
  const found: Article[] = fixed.map(([sku, name, cents, stock]) => ({ sku, name, cents, stock, range }));
  while (found.length < range.count) {
    const sku = `${range.prefix}-${String(random.integer(1, 330)).padStart(3, '0')}`;
    if (taken.has(sku)) continue;
    taken.add(sku);
    const name = `${random.pick(materials)} ${random.pick(range.forms)}`;
    const cents = random.integer(range.prices[0], range.prices[1]) * 100 + random.pick([0, 0, 0, 50, 90, 95]);
    found.push({ sku, name, cents, stock: random.integer(0, 160), range });
  }
  return found.sort((a, b) => (a.sku < b.sku ? -1 : 1));
}

const opened = new Date('2024-02-01T08:00:00Z');
const lastListed = new Date('2026-09-30T17:00:00Z');

/** One product document for each article. */
export function* products(): Generator<Uint8Array> {
  const random = new Random(2);
  for (const article of articles()) yield BSON.serialize(product(article, random));
}

function product({ sku, name, cents, stock, range }: Article, random: Random): BSON.Document {
  const createdAt = random.date(opened, lastListed);
  const [light, heavy] = range.kilograms;
  return {
    _id: sku,
    sku,
    name,
    category: range.category,
    price: { amount: money(cents), currency: 'EUR', validFrom: random.date(createdAt, lastListed) },
    stock: new Int32(stock),
    dimensions: {
      w: new Int32(random.integer(40, 1800)),
      d: new Int32(random.integer(20, 800)),
      h: new Int32(random.integer(10, 1200)),
    },
    tags: [...new Set([random.pick(range.tags), random.pick(range.tags), name.split(' ', 1)[0]!.toLowerCase()])],
    ...(random.percent(55) ? { photo: random.objectId(createdAt) } : {}),
    weightKg: new Double(Math.round((light + (heavy - light) * (random.integer(0, 1000) / 1000)) * 100) / 100),
    variants: variants(sku, cents, random),
    ...(random.percent(70) ? { description: `${name}, ${random.pick(finishes)}. Made to be repaired.` } : {}),
    supplier: { code: random.pick(suppliers), leadDays: new Int32(random.integer(2, 45)) },
    createdAt,
    ...(random.percent(85)
      ? { rating: new Double(random.integer(30, 50) / 10), ratings: Long.fromNumber(random.integer(1, 4000)) }
      : {}),
    ...(random.percent(4) ? { discontinuedAt: random.percent(50) ? random.date(createdAt, lastListed) : null } : {}),
  };
}

/** None, or two to four, told apart by a letter. */
function variants(sku: string, cents: number, random: Random): BSON.Document[] {
  const count = sku === 'DK-310' ? 3 : random.percent(60) ? random.integer(2, 4) : 0;
  return Array.from({ length: count }, (_, i) => ({
    _id: `${sku}-${'ABCD'[i]!}`,
    finish: finishes[(i * 3 + sku.charCodeAt(5)) % finishes.length],
    price: money(cents + i * 500),
    stock: new Int32(random.integer(0, 60)),
  }));
}

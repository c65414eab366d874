import { type BSON, Double } from 'mongodb';
import type { Random } from './random.ts';
import { cities, streets } from './shop-words.ts';

/** A postal address with its place on the map. */
export function address(id: string, random: Random): BSON.Document {
  const { city, country, postcode, at } = random.pick(cities);
  const near = (degrees: number) => new Double(Math.round((degrees + random.integer(-500, 500) / 10_000) * 1e5) / 1e5);
  return {
    _id: id,
    street: `${random.pick(streets)} ${random.integer(1, 180)}`,
    postcode: postcode + String(random.integer(0, 10 ** (5 - postcode.length) - 1)).padStart(5 - postcode.length, '0'),
    city,
    country,
    location: { type: 'Point', coordinates: [near(at[0]), near(at[1])] },
  };
}

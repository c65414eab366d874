import { expect, it } from 'vitest';
import { Growth } from './garbage.ts';

it('it is time to collect when more was gathered since the least than may be, and what is held then counts from there', () => {
  const growth = new Growth(10, 0.01);
  expect([100, 105, 110].map((held) => growth.exceeds(held))).toEqual([false, false, false]);
  expect(growth.exceeds(90)).toBe(false);
  expect(growth.exceeds(101)).toBe(true);
  growth.collected(98);
  expect([101, 108].map((held) => growth.exceeds(held))).toEqual([false, false]);
  expect(growth.exceeds(109)).toBe(true);
});

it('where much lives more may gather', () => {
  const growth = new Growth(10, 0.5);
  expect([100, 140, 150, 151].map((held) => growth.exceeds(held))).toEqual([false, false, false, true]);
});

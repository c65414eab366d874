import { useEffect, useState } from 'react';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Local time of day, `13:34:02`; with `'minute'` without seconds, with `'ms'` to the millisecond. */
export function clock(iso: string | number, precision: 'minute' | 'second' | 'ms' = 'second'): string {
  const at = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (precision === 'minute') return minutes;
  const seconds = `${minutes}:${two(at.getSeconds())}`;
  return precision === 'second' ? seconds : `${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** How long ago, in the two or three letters of a list: `4 s`, `13 min`, `3 h`, `2 d`. */
export function age(iso: string, now: number): string {
  const past = Math.max(0, now - Date.parse(iso));
  if (past < minuteMs) return `${String(Math.floor(past / 1000))} s`;
  if (past < hourMs) return `${String(Math.floor(past / minuteMs))} min`;
  if (past < dayMs) return `${String(Math.floor(past / hourMs))} h`;
  return `${String(Math.floor(past / dayMs))} d`;
}

/** Time left to the nearest minute, the last one whole: `42 min`, `3 h 10 min`, `6 d`. */
export function span(ms: number): string {
  const minutes = Math.max(ms > 0 ? 1 : 0, Math.round(ms / minuteMs));
  if (minutes < 60) return `${String(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${String(hours)} h` : `${String(hours)} h ${String(minutes % 60)} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${String(days)} d` : `${String(days)} d ${String(hours % 24)} h`;
}

/** A moment to come, as short as it stays clear: `15:16` today, else `30 November, 13:40`. */
export function moment(iso: string | number, now: number): string {
  const at = new Date(iso);
  const time = clock(at.getTime(), 'minute');
  if (at.toDateString() === new Date(now).toDateString()) return time;
  return `${String(at.getDate())} ${at.toLocaleString('en-GB', { month: 'long' })}, ${time}`;
}

/** Heading of a day in a list: `Today`, `Yesterday`, `27 November`. */
export function day(iso: string, now: number): string {
  const at = new Date(iso);
  if (at.toDateString() === new Date(now).toDateString()) return 'Today';
  if (at.toDateString() === new Date(now - dayMs).toDateString()) return 'Yesterday';
  const sameYear = at.getFullYear() === new Date(now).getFullYear();
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', ...(sameYear ? {} : { year: 'numeric' }) });
}

/** The time, redrawn every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [everyMs]);
  return now;
}

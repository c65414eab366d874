import type { ReactNode } from 'react';

/** Line icons on a 16 px grid, drawn with the current colour. */
const drawings = {
  fork: <path d="M4.5 1.5v13M4.5 10.5c0-3.5 7-2.5 7-6.5V1.5" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
    </>
  ),
  check: <path d="M3 8.5l3.2 3.2L13 4.6" />,
  close: <path d="M4 4l8 8M12 4l-8 8" />,
  'chevron-right': <path d="M6 3.5L10.5 8 6 12.5" />,
  'chevron-down': <path d="M3.5 6L8 10.5 12.5 6" />,
  'chevron-left': <path d="M10 3.5L5.5 8l4.5 4.5" />,
  choose: <path d="M5 6.2L8 3.2l3 3M5 9.8l3 3 3-3" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.25" />,
  play: <path d="M5 3.5l7.5 4.5L5 12.5z" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.25" />
      <path d="M10.2 10.2l3.3 3.3" />
    </>
  ),
  lock: (
    <>
      <rect x="3.5" y="7" width="9" height="6.5" rx="1" />
      <path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 4.75V8l2.25 1.5" />
    </>
  ),
  undo: <path d="M3 6.5h6.75a3.5 3.5 0 0 1 0 7H6M6 3.25L2.75 6.5 6 9.75" />,
  refresh: <path d="M13.2 8.2A5.25 5.25 0 1 1 11.5 4.2L13.2 5.8M13.2 2.5v3.3H9.9" />,
  trash: <path d="M3 4.5h10M6.25 4.5V2.75h3.5V4.5M4.5 4.5l.6 8.75h5.8l.6-8.75" />,
  conflict: <path d="M8 2.4l6.2 11.1H1.8zM8 6.6v3.2M8 11.6v.01" />,
  alert: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 5v3.4M8 10.9v.01" />
    </>
  ),
  info: (
    <>
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 7.4v3.6M8 5.1v.01" />
    </>
  ),
  down: <path d="M8 2.75v10M4.5 9.5L8 13l3.5-3.5" />,
  pin: <path d="M6 2.5h4l-.6 4 2.1 2.5h-7l2.1-2.5zM8 9v4.5" />,
  theme: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" />
    </>
  ),
  collection: (
    <>
      <rect x="2.5" y="3" width="11" height="10" rx="1" />
      <path d="M2.5 6.5h11M6.5 6.5V13" />
    </>
  ),
  adopt: <path d="M4.5 1.5v13M11.5 14.5v-2.5c0-4-7-3-7-6.5" />,
  import: <path d="M8 2.5v8M4.75 7.5L8 10.75 11.25 7.5M2.5 10.75v2.75h11v-2.75" />,
  plug: <path d="M5.5 2.5v3M10.5 2.5v3M3.5 5.5h9v1.75a4.5 4.5 0 0 1-9 0zM8 11.75v2" />,
  eye: (
    <>
      <path d="M1.75 8S4 3.75 8 3.75 14.25 8 14.25 8 12 12.25 8 12.25 1.75 8 1.75 8z" />
      <circle cx="8" cy="8" r="1.75" />
    </>
  ),
  'eye-off': <path d="M1.75 8S4 3.75 8 3.75 14.25 8 14.25 8 12 12.25 8 12.25 1.75 8 1.75 8zM3 13L13 3" />,
  'buffer-stop': <path d="M8 13.5V6M3.5 6h9M3.5 3.5h9" />,
  plus: <path d="M8 3v10M3 8h10" />,
  sliders: (
    <>
      <path d="M2.5 5h5M11.5 5h2M2.5 11h2M8.5 11h5" />
      <circle cx="9.5" cy="5" r="2" />
      <circle cx="6.5" cy="11" r="2" />
    </>
  ),
  moon: <path d="M12.5 9.8A5.25 5.25 0 0 1 6.2 3.5a5.25 5.25 0 1 0 6.3 6.3z" />,
  filter: <path d="M2.5 4.5h11M4.5 8h7M6.5 11.5h3" />,
  enter: <path d="M13 4v3.5a1.5 1.5 0 0 1-1.5 1.5H3.5M6.25 6.25L3.5 9l2.75 2.75" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof drawings;

/** Decoration only: the words beside it, or the control's label, carry the meaning. */
export function Icon({ name, small = false }: { readonly name: IconName; readonly small?: boolean }) {
  return (
    <svg className={small ? 'i i-12' : 'i'} viewBox="0 0 16 16" aria-hidden="true">
      {drawings[name]}
    </svg>
  );
}

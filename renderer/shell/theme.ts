import { create } from 'zustand';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'forkyard.theme';
const darkSystem = matchMedia('(prefers-color-scheme: dark)');

export const useTheme = create<{ readonly theme: Theme }>()(() => ({ theme: stored() }));

/** Shows the stored theme and follows the system's while that is the choice. Called before the first paint. */
export function startTheme(): void {
  darkSystem.addEventListener('change', apply);
  apply();
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme);
  useTheme.setState({ theme });
  apply();
}

/** Whether the window is dark at the moment, whoever decided it. */
export function isDark(theme: Theme): boolean {
  return theme === 'dark' || (theme === 'system' && darkSystem.matches);
}

function apply(): void {
  const root = document.documentElement;
  // Without this, controls with a transition fade half-way through the change.
  root.classList.add('no-motion');
  root.dataset['theme'] = isDark(useTheme.getState().theme) ? 'dark' : 'light';
  requestAnimationFrame(() => root.classList.remove('no-motion'));
}

function stored(): Theme {
  const value = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === value) ?? 'system';
}

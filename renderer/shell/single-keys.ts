import { create } from 'zustand';

const storageKey = 'forkyard.singleKeys';

/** Whether single letters (`j k a x …`) do something: speech input and stray hands set them off. */
export const useSingleKeys = create<{ readonly on: boolean }>()(() => ({
  on: localStorage.getItem(storageKey) !== 'off',
}));

export function setSingleKeys(on: boolean): void {
  localStorage.setItem(storageKey, on ? 'on' : 'off');
  useSingleKeys.setState({ on });
}

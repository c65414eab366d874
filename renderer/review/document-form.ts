import { create } from 'zustand';

export type DocumentForm = 'unified' | 'sides' | 'ejson';

/** How documents are laid out, the same for every document of the window. */
export const useDocumentForm = create<{ readonly form: DocumentForm }>()(() => ({ form: 'unified' }));

export function showForm(form: DocumentForm): void {
  useDocumentForm.setState({ form });
}

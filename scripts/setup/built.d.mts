export const PAGE_FOLDERS: readonly string[]

import type { Options } from 'minisearch'

/** How the search index is made and read: both sides need the same. */
export const SEARCH_OPTIONS: Options = {
  fields: ['title', 'text'],
  storeFields: ['title', 'page'],
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 3 } },
}

/** Lists of resources as JSON Schemas: whole ones, and those that come in pages. */

import { Type, type TSchema } from 'typebox'

export const listOf = <Item extends TSchema>(item: Item, title: string) =>
  Type.Object({ object: Type.Literal('list'), data: Type.Array(item) }, { title })

export const pagedListOf = <Item extends TSchema>(item: Item, title: string) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item),
      next_cursor: Type.Union([
        Type.String({ description: 'Cursor of the next page; `null` on the last page.' }),
        Type.Null(),
      ]),
    },
    { title },
  )

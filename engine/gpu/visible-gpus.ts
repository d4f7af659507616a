/** Finds out which GPUs of a machine CUDA gives to a process. */

/**
 * Returns those of `uuids`, which are in PCI order, that CUDA gives to a process.
 * @param visible numbers or UUIDs, which may be abbreviated; undefined for all
 */
export function visibleGpus(uuids: readonly string[], visible: string | undefined): string[] {
  if (visible === undefined) return [...uuids]
  const found: string[] = []
  for (const name of visible.split(',').map((part) => part.trim())) {
    const uuid = /^\d+$/.test(name)
      ? uuids[Number(name)]
      : uuids.find((known) => name.startsWith('GPU-') && known.startsWith(name))
    if (uuid === undefined) break
    found.push(uuid)
  }
  return found
}

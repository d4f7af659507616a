/** Finds out which GPUs of a machine CUDA gives to a process. */

/**
 * Returns those of `uuids`, which are in the order of PCI addresses, that CUDA shows to a process.
 * As in CUDA, an invalid name ends the list.
 * @param visible numbers or UUIDs, which may be abbreviated; undefined for all
 */
export function visibleGpus(uuids: readonly string[], visible: string | undefined): string[] {
  if (visible === undefined) return [...uuids]
  const visibleUuids: string[] = []
  for (const name of visible.split(',').map((part) => part.trim())) {
    const uuid = /^\d+$/.test(name)
      ? uuids[Number(name)]
      : uuids.find((candidate) => name.startsWith('GPU-') && candidate.startsWith(name))
    if (uuid === undefined) break
    visibleUuids.push(uuid)
  }
  return visibleUuids
}

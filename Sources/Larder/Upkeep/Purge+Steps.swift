extension Store {
  /// Purges like ``purge()``, or one namespace, and asks between batches whether to go on.
  ///
  /// Returns what was removed until then. What clearing has left is reclaimed only if nobody objected.
  package func purge(
    only namespace: Namespace?, while goesOn: () -> Bool
  ) throws(LarderError) -> Removal {
    try checkWritable()
    var total = Removal()
    var position: [UInt8]?
    repeat {
      let (removal, reached) = try core.write { batch in
        try batch.purge(
          limit: StoreCore.purgedPerBatch, behind: position, only: namespace?.name)
      }
      total += removal
      position = reached
      guard goesOn() else { return total }
    } while position != nil
    while try core.write({ batch in try batch.reclaim(limit: StoreCore.purgedPerBatch) }) > 0 {
      guard goesOn() else { return total }
    }
    return total
  }
}

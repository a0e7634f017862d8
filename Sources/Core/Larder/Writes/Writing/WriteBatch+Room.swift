import LMDB
import LarderSystem

/// Room for an entry that is about to be stored, and its place in the counters.
extension WriteBatch {
  /// Makes room for an entry, before anything of it is counted.
  ///
  /// - Throws: ``LarderError/Code/full`` if too little may be evicted.
  mutating func makeRoom(
    for weight: EntryWeight, replacing previous: StoredEntry?, at entryKey: [UInt8],
    key: Span<UInt8>, owners: [StoredOwner], isChunked: Bool, in namespace: KnownNamespace
  ) throws(LarderError) {
    try writer.context.counters.load(namespace.id, from: &writer.context.transaction)
    writer.context.counters.incoming = IncomingEntry(
      entryKey: entryKey, weight: weight, former: previous.map { EntryWeight($0) })
    defer {
      writer.context.counters.incoming = nil
      writer.orphans.resume()
    }
    let owners = owners + (previous?.owners ?? [])
    if !owners.isEmpty, isShort(of: namespace) {
      let chain = try writer.chain(of: owners)
      writer.context.counters.incoming?.owners = chain
    }
    if previous == nil, weight.queuePosition != 0 {
      let candidate = Candidate(
        sequence: weight.queuePosition, size: UInt64(weight.size),
        hash: Checksum.keyHash(of: key, in: namespace.id), entryKey: entryKey)
      try budget.noteInserted(candidate, in: namespace, &writer)
    }
    try budget.makeRoom(in: namespace, &writer)
    try budget.makeRoomInStore(&writer)
    try budget.makeRoomOnDisk(for: weight, isChunked: isChunked, &writer)
  }

  /// Whether anything may have to leave for the incoming entry.
  private func isShort(of namespace: KnownNamespace) -> Bool {
    budget.hasDiskLimit || budget.exceededLimit(writer.context.counters.expectedStore) != nil
      || namespace.rules.limits.exceeded(by: writer.context.counters.expected(namespace.id)) != nil
  }

  /// Counts an entry that is about to be stored in place of `previous`.
  mutating func charge(
    _ weight: EntryWeight, replacing previous: StoredEntry?, in id: NamespaceID
  ) throws(LarderError) {
    if let previous {
      try writer.context.counters.subtract(
        EntryWeight(previous), from: id, &writer.context.transaction)
      try writer.context.counters.update(id, &writer.context.transaction) {
        $0.removals.count(.replaced, bytes: previous.valueCount)
      }
    }
    try writer.context.counters.add(weight, to: id, &writer.context.transaction)
  }
}

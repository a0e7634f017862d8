import LMDB
import LarderSystem

extension Store.Namespace {
  /// The keys of fresh entries that carry all of the tags, in key order; negative entries are left out.
  ///
  /// Uses one snapshot and the index of the first tag, so name the rarest tag first. O(entries with the first tag).
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for an impossible tag or an empty list of tags.
  public func keys(tags: [String]) throws(LarderError) -> [Key] {
    let tags = try EntryAttributes.validated(all: tags)
    var keys: [Key] = []
    try engine.typed {
      let transaction = try engine.beginRead()
      let id = try engine.reader.identify(handle, in: transaction)
      if id == .store { return }
      let prefix = tags[0] + [0] + id.prefix
      let now = engine.clock.coarseNow
      var cursor = try transaction.cursor(in: engine.indexes.tags)
      var record = try cursor.seek(prefix.span)
      while let found = record, found.key.starts(with: prefix.span) {
        if let entryKey = IndexKey.tagged(found.key.copied),
          let region = try transaction.find(entryKey, in: .entries),
          let entry = StoredEntry(entryKey: entryKey, record: transaction.bytes(of: region)),
          let key = entry.key, tags.allSatisfy(entry.fields.tags.contains)
        {
          let hash = Checksum.keyHash(of: key.span, in: id)
          let outcome = try engine.reader.lookUp(
            key.span, in: id, keyHash: hash, at: now, transaction
          ).outcome
          if outcome == .fresh { keys.append(Key(key)) }
        }
        record = try cursor.next()
      }
    }
    return keys
  }
}

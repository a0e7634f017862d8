import LMDB
import LarderSystem

extension WriteBatch {
  /// Stores the entries of the write buffer, before the batch makes changes of its own.
  mutating func drain(_ buffer: WriteBuffer, _ state: BufferState) throws(LarderError) {
    if state.end == 0 { return }
    let contents = BufferContents(of: buffer, state)
    for entry in contents.entries { try store(entry) }
    for (id, namespace) in contents.namespaces where try session.isLive(id) {
      try session.update(id) { counters in
        counters.next = max(counters.next, namespace.next)
        counters.removals.count(
          .replaced, entries: namespace.replaced.entries, bytes: namespace.replaced.bytes)
      }
    }
    if contents.isDamaged { try skipVersions(of: buffer) }
    for time in contents.times {
      session.recordWrite(
        at: min(max(Timestamp(milliseconds: time), Timestamp(milliseconds: 0)), session.now))
    }
  }

  /// The damaged records are lost. Readers may know their versions, so that no other value may get one of them.
  private mutating func skipVersions(of buffer: WriteBuffer) throws(LarderError) {
    for id in Set(buffer.namespaceIDs) where try session.name(of: id) != nil {
      try session.update(id) { $0.next &+= 1 << 20 }
    }
  }

  private mutating func store(_ entry: BufferContents.Entry) throws(LarderError) {
    let id = entry.entryKey.span.namespaceID
    let record = entry.bytes.span
    var header = entry.header
    guard let name = try session.name(of: id),
      let namespace = try session.namespace(name)
    else { return }
    let value = record.extracting(header.payloadStart..<record.count)
    let previous = try clearPlace(at: entry.entryKey, for: entry.key.span)
    if let previous, previous.header.version >= header.version { return }
    header.sequence = namespace.queuePosition(of: previous?.header, version: header.version)
    header.deadline = header.indexedDeadline(replacing: previous?.header)
    try store(
      value, for: entry.key.span, at: entry.entryKey, header, (EntryFields(), []),
      replacing: previous, in: namespace, as: .committed)
  }

  /// The room for records on top of this batch.
  var bufferTerms: BufferTerms {
    let (state, limits) = (session.state, budget.limits)
    var terms = BufferTerms()
    terms.metadata = state.generation
    terms.entries = BufferedNamespace.left(of: limits.entries, state.entries)
    terms.bytes = BufferedNamespace.left(of: limits.bytes, state.bytes)
    terms.pages = budget.disk == nil ? BatchPages.ample / session.engine.pageSize / 2 : 0
    terms.isWatched = state.watched != 0
    return terms
  }
}

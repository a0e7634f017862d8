import LMDB
import LarderSystem

/// The slot of a namespace: what its records have used in this generation.
struct BufferedNamespace {
  let id: NamespaceID
  /// The version of the next value.
  var next: UInt64
  /// How many entries, and bytes of values, may be added before a limit of the namespace is reached.
  var entries: Int
  var bytes: Int

  /// - Parameter counters: those of the commit on which the records lie.
  init(_ namespace: KnownNamespace, _ counters: NamespaceCounters) {
    id = namespace.id
    next = counters.next
    let limits = namespace.rules.limits
    entries = Self.left(of: limits.entries, counters.entries)
    bytes = Self.left(of: limits.bytes, counters.bytes)
  }

  static func left(of limit: Int?, _ used: UInt64) -> Int {
    limit.map { max(0, $0 - Int(clamping: used)) } ?? .max
  }

  fileprivate init?(_ index: Int, _ view: borrowing SharedTable.View) {
    let place = BufferLayout.namespace(index)
    let raw = view.wide(place)
    if raw == 0 { return nil }
    id = NamespaceID(rawValue: UInt32(truncatingIfNeeded: raw))
    next = view.wide(place + 1)
    entries = Int(clamping: view.wide(place + 2))
    bytes = Int(clamping: view.wide(place + 3))
  }

  fileprivate func save(_ index: Int, _ view: borrowing SharedTable.View) {
    let place = BufferLayout.namespace(index)
    view.store(next, wide: place + 1)
    view.store(UInt64(clamping: entries), wide: place + 2)
    view.store(UInt64(clamping: bytes), wide: place + 3)
    // Last, so that the slot is complete once it has an id.
    view.release(UInt64(id.rawValue), to: place)
  }
}

/// An entry that is about to be appended, but for its version.
struct BufferedWrite: ~Escapable {
  let key: Span<UInt8>
  let value: Span<UInt8>
  let namespace: KnownNamespace
  /// The entry that is replaced.
  let former: WriteBuffer.Former
  /// The counters of the namespace, for the first record of a generation; nil if it has a slot.
  let counters: NamespaceCounters?

  @_lifetime(copy key, copy value)
  init(
    _ value: Span<UInt8>, for key: Span<UInt8>, in namespace: KnownNamespace,
    replacing former: WriteBuffer.Former, _ counters: NamespaceCounters?
  ) {
    self.key = key
    self.value = value
    self.namespace = namespace
    self.former = former
    self.counters = counters
  }
}

extension WriteBuffer {
  /// The result of the lookup before a write.
  struct Former {
    /// Of the lookup.
    var state: BufferState
    var snapshot: UInt64
    var id: NamespaceID
    var keyHash: UInt64
    /// The record on top of the snapshot, if there is one.
    var found: Found?
    /// Bytes of the value that is replaced; nil for a new entry.
    var size: Int?
  }

  enum Answer {
    case appended(EntryHeader)
    /// Another write came between the lookup and this.
    case outdated
    /// A transaction must do it: a limit is near, the buffer is full, or a transaction is open.
    case refused
  }

  /// Whether the namespace has a slot in this generation.
  func knows(_ id: NamespaceID) -> Bool {
    let table = table
    return namespace(id, table.view)?.slot != nil
  }

  /// The namespaces that may have records in this generation.
  var namespaceIDs: [NamespaceID] {
    let table = table
    return (0..<BufferLayout.namespaceCount).compactMap { BufferedNamespace($0, table.view)?.id }
  }

  private func namespace(
    _ id: NamespaceID, _ view: borrowing SharedTable.View
  ) -> (index: Int, isNew: Bool, slot: BufferedNamespace?)? {
    for index in 0..<BufferLayout.namespaceCount {
      guard let slot = BufferedNamespace(index, view) else { return (index, true, nil) }
      if slot.id == id { return (index, false, slot) }
    }
    return nil
  }

  /// Whether writers of that metadata may append.
  func isOpen(at metadata: UInt64) -> Bool {
    let table = table
    let view = table.view
    return appends && view.isWritable && view.wide(BufferLayout.Place.metadata) == metadata
      && view.wide(BufferLayout.Place.isClosed) == 0
  }

  /// Whether the store ever had a subscription.
  var isWatched: Bool {
    let table = table
    return table.view.wide(BufferLayout.Place.watched) != 0
  }

  /// Appends an entry.
  ///
  /// - Parameter header: makes the header of a version.
  func append(_ write: borrowing BufferedWrite, _ header: (UInt64) -> EntryHeader) -> Answer {
    let table = table
    let answer = lock?.withLock(table.view, waitingAtMost: Self.appendTimeout) { view -> Answer in
      index(view)
      let (state, former) = (
        BufferState(word: view.acquire(BufferLayout.Place.state)), write.former
      )
      if state.isFrozen || !appends || view.wide(BufferLayout.Place.isClosed) != 0 {
        return .refused
      }
      guard state.epoch == former.state.epoch, base(of: state) == former.snapshot,
        state.end == former.state.end
          || find(write.key, in: former.id, keyHash: former.keyHash, state) == former.found
      else { return .outdated }
      return append(write, header, state, view)
    }
    return answer ?? .refused
  }

  private func append(
    _ write: borrowing BufferedWrite, _ header: (UInt64) -> EntryHeader, _ state: BufferState,
    _ view: borrowing SharedTable.View
  ) -> Answer {
    guard let known = namespace(write.namespace.id, view) else { return .refused }
    var namespace: BufferedNamespace
    if let slot = known.slot {
      namespace = slot
    } else {
      guard let counters = write.counters else { return .outdated }
      namespace = BufferedNamespace(write.namespace, counters)
    }
    let room = BufferLayout.Place.room
    let added = (
      entries: write.former.size == nil ? 1 : 0, bytes: write.value.count - (write.former.size ?? 0)
    )
    KillPoint.pass(1)
    let entries = Int(clamping: view.wide(room))
    let bytes = Int(clamping: view.wide(room + 1))
    guard namespace.entries >= added.entries, namespace.bytes >= added.bytes,
      entries >= added.entries, bytes >= added.bytes, namespace.next < QueuePosition.limit - 1
    else { return .refused }
    let header = header(namespace.next)
    let form = header.form
    let record = BufferRecord(
      id: namespace.id, keyHash: write.former.keyHash, keyCount: write.key.count,
      entryCount: form.size + write.value.count)
    let pages = Int(clamping: view.wide(room + 2)) - Self.pages(of: record)
    guard record.size <= layout.logSize - state.end, pages >= 0 else { return .refused }
    withStackBytes(
      record.entryCount,
      { output in
        header.append(to: &output, form)
        output.append(contentsOf: write.value)
        EntryHeader.seal(&output, keyHash: record.keyHash)
      },
      { entry in record.write(write.key, entry, at: state.end, in: state, view, layout) })
    KillPoint.pass(2)
    namespace.next += 1
    if namespace.entries != .max { namespace.entries -= added.entries }
    if namespace.bytes != .max { namespace.bytes &-= added.bytes }
    // A process that is killed from here on leaves out a version, or some of the room. No version is given twice.
    namespace.save(known.index, view)
    if entries != .max { view.store(UInt64(entries - added.entries), wide: room) }
    if bytes != .max { view.store(UInt64(clamping: bytes &- added.bytes), wide: room + 1) }
    view.store(UInt64(pages), wide: room + 2)
    KillPoint.pass(3)
    // The commit point.
    view.release(UInt64(state.end + record.size), to: BufferLayout.Place.tail)
    KillPoint.pass(4)
    publish(record, at: state.end, in: state, view)
    KillPoint.pass(6)
    return .appended(header)
  }

  /// The most pages that a commit takes for a record: a leaf of each of three databases and its split, and those of a value that
  /// fills pages of its own.
  private static func pages(of record: BufferRecord) -> Int { 6 + record.entryCount / 2048 }
}

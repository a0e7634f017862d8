import LarderSystem

/// How many entries, and bytes of values, still fit into the limits; `Int.max` if there is no limit.
struct BufferRoom {
  var entries: Int
  var bytes: Int

  init(_ limits: Limits, used: Usage) {
    entries = limits.entries.map { max(0, $0 - Int(clamping: used.entries)) } ?? .max
    bytes = limits.bytes.map { max(0, $0 - Int(clamping: used.bytes)) } ?? .max
  }

  init(at place: Int, _ view: borrowing SharedTable.View) {
    entries = Int(clamping: view.wide(place))
    bytes = Int(clamping: view.wide(place + 1))
  }

  func save(at place: Int, _ view: borrowing SharedTable.View) {
    view.store(UInt64(clamping: entries), wide: place)
    view.store(UInt64(clamping: bytes), wide: place + 1)
  }

  /// The room that is left after a change. A removal increases the room. Nil if the room is too small for the change.
  func taking(_ change: BufferCharge) -> BufferRoom? {
    guard entries >= change.entries, bytes >= change.bytes else { return nil }
    var room = self
    if entries != .max { room.entries &-= change.entries }
    if bytes != .max { room.bytes &-= change.bytes }
    return room
  }

  /// This room without the charge of records that were already appended; no room at all if the charge is larger.
  func less(_ charge: BufferCharge) -> BufferRoom {
    taking(charge) ?? BufferRoom(Limits(entries: 0, bytes: 0), used: Usage(entries: 0, bytes: 0))
  }
}

/// By how many entries, and by how many bytes of values, records increase the usage. A number below 0 is a decrease.
struct BufferCharge {
  var entries = 0
  var bytes = 0
}

extension BufferCharge {
  init(at place: Int, _ view: borrowing SharedTable.View) {
    entries = Int(truncatingIfNeeded: view.wide(place))
    bytes = Int(truncatingIfNeeded: view.wide(place + 1))
  }

  func save(at place: Int, _ view: borrowing SharedTable.View) {
    view.store(UInt64(truncatingIfNeeded: entries), wide: place)
    view.store(UInt64(truncatingIfNeeded: bytes), wide: place + 1)
  }

  var increase: BufferCharge { BufferCharge(entries: max(0, entries), bytes: max(0, bytes)) }
  var givesRoom: Bool { entries < 0 || bytes < 0 }

  /// Whether this charge is more than three times as large as the room that is left.
  func exceeds(_ room: BufferRoom) -> Bool { entries / 3 > room.entries || bytes / 3 > room.bytes }

  static func + (left: BufferCharge, right: BufferCharge) -> BufferCharge {
    BufferCharge(entries: left.entries &+ right.entries, bytes: left.bytes &+ right.bytes)
  }
}

/// The slot of a namespace: the next version, the room after the records of both logs, and the charge of the active log.
struct BufferedNamespace {
  let id: NamespaceID
  var next: UInt64
  var room: BufferRoom
  var charge = BufferCharge()
  private let place: Int

  /// A new slot. `counters` are the counters in the base, without the records of the buffer.
  init(_ namespace: KnownNamespace, _ counters: NamespaceCounters, at index: Int) {
    id = namespace.id
    next = counters.next
    room = BufferRoom(namespace.rules.limits, used: counters.usage)
    place = BufferLayout.namespace(index)
  }

  init?(_ index: Int, _ view: borrowing SharedTable.View) {
    place = BufferLayout.namespace(index)
    let raw = view.wide(place)
    if raw == 0 { return nil }
    id = NamespaceID(rawValue: UInt32(truncatingIfNeeded: raw))
    next = view.wide(place + 1)
    room = BufferRoom(at: place + 2, view)
    charge = BufferCharge(at: place + 4, view)
  }

  func save(_ view: borrowing SharedTable.View) {
    view.store(next, wide: place + 1)
    room.save(at: place + 2, view)
    charge.save(at: place + 4, view)
    // The id is stored last, so that a slot with an id is always complete.
    view.release(UInt64(id.rawValue), to: place)
  }
}

extension WriteBuffer {
  func knows(_ id: NamespaceID) -> Bool {
    let table = table
    return slot(of: id, table.view)?.slot != nil
  }

  var namespaceIDs: [NamespaceID] {
    let table = table
    return (0..<BufferLayout.namespaceCount).compactMap { BufferedNamespace($0, table.view)?.id }
  }

  func forEachNamespace(
    _ view: borrowing SharedTable.View, _ body: (inout BufferedNamespace) -> Void
  ) {
    for index in 0..<BufferLayout.namespaceCount {
      guard var slot = BufferedNamespace(index, view) else { break }
      body(&slot)
      slot.save(view)
    }
  }

  /// The slot of a namespace and its index, or the index of a free slot. Nil if all slots are taken by other namespaces.
  func slot(
    of id: NamespaceID, _ view: borrowing SharedTable.View
  ) -> (index: Int, slot: BufferedNamespace?)? {
    for index in 0..<BufferLayout.namespaceCount {
      guard let slot = BufferedNamespace(index, view) else { return (index, nil) }
      if slot.id == id { return (index, slot) }
    }
    return nil
  }
}

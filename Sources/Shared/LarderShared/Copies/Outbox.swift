import Larder
import LarderSystem
import Synchronization

/// The removals of this machine that the tier does not have yet, the oldest first, in a namespace of the store. Any process of
/// the store may send the removals, so a removal may be sent twice.
final class Outbox: Sendable {
  static let namespace = Store.tierOutbox
  /// The most removals that can wait. A further removal is not queued, and its caller gets an error.
  static let most = 10_000
  private static let layout: UInt8 = 1
  private static let keySize = 8

  private let waiting: Store.Namespace
  private let state: LocalState
  /// The keys of removals that were sent, but are still in the outbox.
  private let sent = Mutex<[Key]>([])

  init(_ store: Store, _ state: LocalState) {
    waiting = store.namespace(Self.namespace)
    self.state = state
  }

  /// Each load asks for this number, so this call waits for no commit.
  func count() throws(LarderError) -> Int { try waiting.committedCount() }

  func add(_ subject: LogRecord.Subject, in batch: inout WriteBatch) throws {
    // If the record of the number is lost, the last removal has the number.
    let last = try waiting.lastKeys(prefix: [], before: nil, atMost: 1).first ?? []
    let number = max(try state.queued(in: &batch), UInt64(bigEndianBytes: last)) &+ 1
    let key = [UInt8](count: Self.keySize) { $0.append(bigEndian: number) }
    try state.put(Self.encoded(subject), for: key, of: waiting, in: &batch)
    try state.setQueued(number, in: &batch)
  }

  func checkRoom() throws(LarderError) {
    guard try count() < Self.most else {
      throw LarderError(
        .unreachable, "\(Self.most) removals wait for the shared tier, and no more are queued",
        hint: "repeat the removal when the server can be reached again")
    }
  }

  /// At most `most` removals, the oldest first. If a removal cannot be read, its change is nil, and the caller drops the removal.
  func oldest(_ most: Int = 100) throws(LarderError) -> [(key: Key, change: TierChange?)] {
    var keys = try waiting.page(limit: most).items.map(\.key)
    if keys.isEmpty {
      // A page omits damaged removals. While any removal waits, no load asks the tier, so the caller must drop damaged ones.
      let rest = try waiting.lastKeys(prefix: [], before: nil, atMost: most)
      keys = rest.filter { $0.count == Self.keySize }.map { Key($0) }
    }
    return try keys.map { key throws(LarderError) in
      (key: key, change: try waiting.uncountedValue(for: key).flatMap(Self.decode))
    }
  }

  /// Removes removals that were sent. If the store cannot be written now, the next call removes them, too. Without this, each
  /// attempt to send removals would end values of all machines again.
  func remove(_ keys: [Key]) async throws {
    let all = sent.withLock { sent in
      sent += keys
      return sent
    }
    guard !all.isEmpty else { return }
    try await waiting.store.commit { [waiting] batch in
      for key in all { try batch.remove(key, from: waiting) }
    }
    sent.withLock { $0 = [] }
  }

  // MARK: Bytes

  static func encoded(_ subject: LogRecord.Subject) -> [UInt8] {
    var bytes = [layout]
    switch subject {
    case .nothing: bytes.append(0)
    case .key(let key):
      bytes.append(1)
      bytes.append(bigEndian: UInt16(truncatingIfNeeded: key.namespace.utf8.count))
      bytes += Array(key.namespace.utf8) + key.bytes
    case .namespace(let name): bytes += [2] + Array(name.utf8)
    case .tag(let tag): bytes += [3] + Array(tag.utf8)
    }
    return bytes
  }

  static func decode(_ bytes: [UInt8]) -> TierChange? {
    var reader = ByteReader(bytes[...])
    guard reader.bytes(1)?.first == layout, let kind = reader.bytes(1)?.first else { return nil }
    func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }
    switch kind {
    case 1:
      guard let count = reader.number(2), let name = reader.bytes(count).flatMap(text) else {
        return nil
      }
      return .remove(SharedKey(namespace: name, bytes: Array(reader.rest)))
    case 2: return text(reader.rest).map { .clear(namespace: $0) }
    case 3: return text(reader.rest).map { .invalidate(tag: $0) }
    default: return nil
    }
  }
}

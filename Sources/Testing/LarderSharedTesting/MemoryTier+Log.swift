public import Larder
public import LarderShared
import LarderSystem

extension MemoryTier {
  public func newestRecord() async throws(LarderError) -> LogRecord {
    try await perform(counts: false) { image, now in image.log.last ?? image.advance(now, .nothing)
    }
  }

  public func look(
    at position: Position
  ) async throws(LarderError) -> (head: Position?, record: LogRecord?) {
    try await perform(counts: false) { image, _ in
      (image.head, image.log.last { $0.position == position })
    }
  }

  /// The wait is in real time, so that it ends even if the tier's clock stands still.
  public func records(
    after position: Position, waiting: Duration
  ) async throws(LarderError) -> [LogRecord] {
    if waiting > .zero { await waitForRecord(after: position, for: waiting) }
    return try await perform(counts: false) { image, _ in
      // Positions rise, so the search can begin at the end. Most readers have seen most records, so the search is short.
      let last = image.log.lastIndex { $0.position <= position } ?? -1
      return Array(image.log[(last + 1)...].prefix(500))
    }
  }

  private func waitForRecord(after position: Position, for time: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in await readers.wait(unless: { (newest ?? .zero) > position }) }
      // If the task is cancelled, the wait ends early.
      group.addTask { try? await Task.sleep(for: time) }
      _ = await group.next()
      group.cancelAll()
    }
  }
}

extension MemoryTier.Image {
  /// The record of a new change. Its position is higher than all earlier positions, even if the clock stands still.
  mutating func advance(_ now: Duration, _ subject: LogRecord.Subject) -> LogRecord {
    let time = UInt64(now / .milliseconds(1)) + 1
    var position = Position(milliseconds: time, sequence: 0)
    if let head, head >= position { position = head.next }
    var hasher = Hasher()
    hasher.combine(log.last)
    hasher.combine(subject)
    let record = LogRecord(
      position: position, digest: UInt64(truncatingIfNeeded: hasher.finalize()),
      previous: log.last?.digest, subject: subject)
    log.append(record)
    head = position
    return record
  }

  mutating func store(
    _ value: TierValue, under key: SharedKey, version: Position, at now: Duration
  ) -> ValueStamp {
    // Two values that are filled at the same time get different stamps, because a stamp identifies a value.
    let written = max(UInt64(now / .microseconds(1)), (values[key]?.stamp.written ?? 0) + 1)
    let stamp = ValueStamp(version: version, written: written)
    values[key] = MemoryTier.Stored(value: value, stamp: stamp, written: now)
    return stamp
  }

  func floor(of key: SharedKey, _ tags: [String]) -> Position {
    tags.reduce(namespaces[Key(key.namespace)] ?? .zero) { max($0, self.tags[Key($1)] ?? .zero) }
  }

  mutating func expire(at now: Duration) {
    values = values.filter { now - $0.value.written < $0.value.value.lifetime }
    leases = leases.filter { now < $0.value.end }
  }
}

import Larder
import LarderSystem

extension RecentChanges {
  static func name(of key: SharedKey) -> [UInt8] { [1] + TierNames.name(of: key) }
  static func name(ofNamespace name: String) -> [UInt8] { [2] + Array(name.utf8) }
  static func name(ofTag tag: String) -> [UInt8] { [3] + Array(tag.utf8) }

  fileprivate static func prefix(of namespace: String) -> [UInt8] {
    [1] + TierNames.prefix(of: namespace)
  }

  fileprivate static func slot(_ name: [UInt8]) -> Int {
    firstSlot + Int(Checksum.of(name, seed: 4) % UInt64(slots))
  }

  /// Notes a change in its name's slot. All names of a slot share its newest position, so values of other names may be refused.
  func note(_ subject: LogRecord.Subject, at position: Position) {
    note([LogRecord(position: position, digest: 0, previous: nil, subject: subject)])
  }

  func note(_ changes: [LogRecord]) {
    let view = words.view
    guard view.isWritable else { return }
    var slots = ChangeSlots()
    for change in changes {
      guard let slot = slots.slot(of: change.subject) else { continue }
      let word = change.position.word
      var known = view.acquire(slot)
      while known < word, !view.exchange(known, for: word, at: slot) { known = view.acquire(slot) }
    }
  }

  /// Whether every known change of the names is at the position or before it. Without the file, the result is false.
  func isCurrent(_ names: [[UInt8]], at position: Position) -> Bool {
    let view = words.view
    guard view.count > 0 else { return false }
    let word = position.word
    for name in names {
      let change = view.acquire(Self.slot(name))
      if change > word || change == word && position.isBeyondWord { return false }
    }
    return true
  }

  /// The content of a new file: no slot has a change.
  static let none = [UInt64](repeating: 0, count: slots)

  var changes: [UInt64] {
    let view = words.view
    guard view.count > 0 else { return [] }
    return (Self.firstSlot..<Self.firstSlot + Self.slots).map { view.acquire($0) }
  }

  /// Replaces the changes of a lost history with the position at which another history begins, but keeps the changes after the
  /// read of `noted`. So a value from a server that still has the lost history is refused.
  func replace(_ noted: [UInt64], with position: Position) {
    let view = words.view
    guard view.isWritable else { return }
    for (index, known) in noted.enumerated() {
      _ = view.exchange(known, for: position.word, at: Self.firstSlot + index)
    }
  }
}

/// Finds the slots of many changes. All changes share the memory, because a machine that was cut off reads thousands of changes.
private struct ChangeSlots {
  /// The name of the last key, whose memory is used again.
  private var name: [UInt8] = []
  private var namespace: ExactString?
  /// The number of bytes of the name that belong to the namespace.
  private var prefix = 0

  mutating func slot(of subject: LogRecord.Subject) -> Int? {
    switch subject {
    case .nothing: return nil
    case .namespace(let name): return RecentChanges.slot(RecentChanges.name(ofNamespace: name))
    case .tag(let tag): return RecentChanges.slot(RecentChanges.name(ofTag: tag))
    case .key(let key):
      let own = ExactString(key.namespace)
      if namespace == own {
        name.removeSubrange(prefix...)
      } else {
        name = RecentChanges.prefix(of: key.namespace)
        (namespace, prefix) = (own, name.count)
      }
      TierNames.append(key.bytes, to: &name)
      return RecentChanges.slot(name)
    }
  }
}

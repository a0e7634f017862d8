import Larder
import ShellLanguage

/// A change as `watch` shows it.
struct ChangeEvent {
  enum Kind: String, CaseIterable {
    case set, updated, expired, evicted, cleared, renamed, missed, health
  }

  let kind: Kind
  let change: Change
  /// The expiry of the entry; nil if the entry is gone.
  private(set) var expires: Timestamp??
  private(set) var value: [UInt8]?

  /// Nil for the end of the changes.
  init?(_ change: Change) {
    self.change = change
    switch change.kind {
    case .set: kind = .set
    case .touched: kind = .updated
    case .removed(.expired): kind = .expired
    case .removed: kind = .evicted
    case .cleared: kind = .cleared
    case .renamed: kind = .renamed
    case .missed: kind = .missed
    case .health: kind = .health
    case .ended: return nil
    }
  }

  /// The size of the value, of a removed entry the last one.
  var size: Int? { change.sizeAfter ?? change.sizeBefore }

  /// Of a cut key only the prefix can be compared.
  func matches(_ pattern: Selection.Pattern) -> Bool {
    guard let key = change.key?.bytes else { return false }
    guard change.isKeyCut else { return pattern.matches(key) }
    return switch pattern {
    case .key(let whole): whole.starts(with: key)
    case .glob(let glob): glob.prefix.starts(with: key) || glob.matches(key)
    }
  }

  /// The event with the expiry and value that the entry has now.
  func completed(withValue: Bool, from store: Store) throws -> ChangeEvent {
    guard kind == .set || kind == .updated, !change.isKeyCut, let key = change.key,
      let name = change.namespace
    else { return self }
    var event = self
    let namespace = store.namespace(name)
    if withValue {
      _ = try namespace.lookUp(key.bytes) { entry, value in
        event.expires = .some(entry.expires)
        // A negative entry has no value.
        event.value = entry.isNegative ? nil : value.bytes
      }
    } else {
      event.expires = try namespace.entry(for: key).map { .some($0.expires) } ?? nil
    }
    return event
  }
}

extension RemovalReason {
  /// The name in data.
  var name: String {
    switch self {
    case .expired: "expired"
    case .evictedForEntries: "entry_limit"
    case .evictedForBytes: "byte_limit"
    case .evictedForStoreEntries: "store_entry_limit"
    case .evictedForStoreBytes: "store_byte_limit"
    case .evictedForDisk: "disk_limit"
    case .orphaned: "owner_removed"
    case .removed: "removed"
    case .replaced: "replaced"
    case .cleared: "cleared"
    case .invalidated: "invalidated"
    case .damaged: "damaged"
    }
  }

  /// The reason for a person; nil where the event says it.
  var words: String? {
    switch self {
    case .expired, .removed, .cleared: nil
    case .evictedForEntries: "entry limit"
    case .evictedForBytes: "byte limit"
    case .evictedForStoreEntries: "entry limit of the store"
    case .evictedForStoreBytes: "byte limit of the store"
    case .evictedForDisk: "disk limit"
    case .orphaned: "owner removed"
    case .replaced: "replaced"
    case .invalidated: "invalidated by tag"
    case .damaged: "damaged"
    }
  }
}

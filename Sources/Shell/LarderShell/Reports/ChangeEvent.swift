import Larder
import LarderSystem
import ShellLanguage

struct ChangeEvent {
  enum Kind: String, CaseIterable {
    case set, updated, expired, evicted, cleared, renamed, missed, health
  }

  let kind: Kind
  let change: Change
  var value: [UInt8]?
  var shown: [Cell] = []

  /// Makes the event of a change. Nil if the change marks the end of the changes.
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

  /// Whether the change has left an entry under its key.
  var leavesEntry: Bool { kind == .set || kind == .updated }

  /// The size of the value. For a removed entry, the size of its last value.
  var size: Int? { change.sizeAfter ?? change.sizeBefore }

  /// Whether the change is in one of the namespaces, or concerns the whole store. Nil for `names` means all namespaces.
  func isIn(_ names: Set<ExactString>?) -> Bool {
    guard let names, let name = change.namespace else { return true }
    return names.contains(ExactString(name))
  }

  /// Whether the pattern matches the key. If the feed has only the beginning of the key, a pattern with this beginning matches.
  func matches(_ pattern: Selection.Pattern) -> Bool {
    guard let key = change.key?.bytes else { return false }
    guard change.isKeyCut else { return pattern.matches(key) }
    return switch pattern {
    case .key(let whole): whole.starts(with: key)
    case .glob(let glob): glob.prefix.starts(with: key) || glob.matches(key)
    }
  }

  /// Passes the present entry of a set or update to `body`. Returns nil for other events, a cut key, and an absent entry.
  func lookUp<Result>(
    in store: Store, readsValue: Bool, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    guard leavesEntry, !change.isKeyCut, let key = change.key, let name = change.namespace
    else { return nil }
    return try store.namespace(name).withEntry(for: key, readsValue: readsValue, damaged: {}, body)
  }
}

/// The facts that the feed has of every change of an entry: the key, the namespace and the size.
extension ChangeEvent: QueryFacts {
  var key: [UInt8] { change.key?.bytes ?? [] }
  var metadata: [UInt8]? { nil }

  func header(_ name: [UInt8]) -> [UInt8]? { nil }

  func fact(_ name: QueryName, of value: Span<UInt8>, at now: UnixTime) -> QueryValue {
    switch name {
    case .key: .text(key)
    case .namespace: .string(Array((change.namespace ?? "").utf8))
    case .size: size.map { .integer(Int128($0)) } ?? .null
    default: .null
    }
  }
}

extension RemovalReason {
  /// The name of the reason in data, and words for a person. The words are nil if the event's name already says the reason.
  var texts: (name: String, words: String?) {
    switch self {
    case .expired: ("expired", nil)
    case .evictedForEntries: ("entry_limit", "entry limit")
    case .evictedForBytes: ("byte_limit", "byte limit")
    case .evictedForStoreEntries: ("store_entry_limit", "entry limit of the store")
    case .evictedForStoreBytes: ("store_byte_limit", "byte limit of the store")
    case .evictedForDisk: ("disk_limit", "disk limit")
    case .orphaned: ("owner_removed", "owner removed")
    case .removed: ("removed", nil)
    case .replaced: ("replaced", "replaced")
    case .cleared: ("cleared", nil)
    case .invalidated: ("invalidated", "invalidated by tag")
    case .damaged: ("damaged", "damaged")
    }
  }
}

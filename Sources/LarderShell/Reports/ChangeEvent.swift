import Larder
import ShellLanguage

/// A change as `watch` shows it.
struct ChangeEvent {
  enum Kind: String, CaseIterable {
    case set, updated, expired, evicted, cleared, renamed, missed, health
  }

  let kind: Kind
  let change: Change
  /// The expiry that the change gave the entry; nil for an event without one.
  let expires: Timestamp??
  private(set) var value: [UInt8]?
  /// The values of `--show`.
  private(set) var shown: [Cell] = []

  /// Nil for the end of the changes.
  init?(_ change: Change) {
    self.change = change
    expires = [.set, .touched].contains(change.kind) ? .some(change.expires) : nil
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

  /// The event with what a form shows of the entry that is there now.
  func completed(
    for form: ChangeForm, from store: Store, _ queries: QueryRun
  ) throws -> ChangeEvent {
    var event = self
    event.shown = form.shown.map { _ in Cell.null }
    guard form.hasValues || !form.shown.isEmpty else { return event }
    try lookUp(in: store) { entry, value in
      // A negative entry has no value.
      event.value = entry.isNegative || !form.hasValues ? nil : value.bytes
      guard !form.shown.isEmpty else { return }
      event.shown = queries.values(form.shown.map(\.operand), for: .column, entry, value)
        .map(\.cell)
    }
    return event
  }

  /// Lends the entry that was set or updated as it is now; nil if it is gone.
  @discardableResult
  func lookUp<Result>(
    in store: Store, _ body: (Store.Entry, Span<UInt8>) throws -> Result
  ) throws -> Result? {
    guard kind == .set || kind == .updated, !change.isKeyCut, let key = change.key,
      let name = change.namespace
    else { return nil }
    return try store.namespace(name).lookUp(key.bytes, body)
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

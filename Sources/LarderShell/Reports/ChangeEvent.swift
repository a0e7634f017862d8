import Larder
import ShellLanguage

/// A change as `watch` tells it.
struct ChangeEvent {
  enum Kind: String, CaseIterable { case set, evict, expire, touch, clear, rename, missed }

  let kind: Kind
  let change: Change
  /// When the entry ends as it is now; it may have been changed again since. Nil for one that is gone.
  private(set) var expires: Timestamp??
  private(set) var value: [UInt8]?

  /// Nil for what is no change, but the end of them.
  init?(_ change: Change) {
    self.change = change
    switch change.kind {
    case .set: kind = .set
    case .touched: kind = .touch
    case .removed(.expired): kind = .expire
    case .removed: kind = .evict
    case .cleared: kind = .clear
    case .renamed: kind = .rename
    case .missed: kind = .missed
    case .ended: return nil
    }
  }

  /// Of the value: the one that is there, or that was.
  var size: Int? { change.sizeAfter ?? change.sizeBefore }

  /// Of a key that is cut only the beginning can be compared.
  func matches(_ pattern: Selection.Pattern) -> Bool {
    guard let key = change.key?.bytes else { return false }
    guard change.isKeyCut else { return pattern.matches(key) }
    return switch pattern {
    case .key(let whole): whole.starts(with: key)
    case .glob(let glob): glob.prefix.starts(with: key) || glob.matches(key)
    }
  }

  /// With what the store knows of the entry now.
  func completed(withValue: Bool, from store: Store) throws -> ChangeEvent {
    guard kind == .set || kind == .touch, !change.isKeyCut, let key = change.key,
      let name = change.namespace
    else { return self }
    var event = self
    let namespace = store.namespace(name)
    if withValue {
      _ = try namespace.lookUp(key.bytes) { entry, value in
        event.expires = .some(entry.expires)
        // There is none in an entry that says so.
        event.value = entry.isNegative ? nil : value.bytes
      }
    } else {
      event.expires = try namespace.entry(for: key).map { .some($0.expires) } ?? nil
    }
    return event
  }
}

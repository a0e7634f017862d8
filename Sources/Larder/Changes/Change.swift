import LarderSystem

/// A committed change of an entry or a namespace, by this process or another.
public struct Change: Sendable, Hashable {
  /// The kind of a change.
  public enum Kind: Sendable, Hashable {
    /// A value was stored.
    case set
    /// The entry got another expiration or pin, without its value being written.
    case touched
    /// The entry was removed, for this reason.
    case removed(RemovalReason)
    /// Every entry of the namespace was removed at once.
    case cleared
    /// The namespace has a new name.
    case renamed(to: String)
    /// This many changes of any namespaces were not delivered; nil if the number is unknown.
    ///
    /// A copy of the store must be read again. No later change is missing.
    case missed(Int?)
    /// Another program deleted or replaced the store's files, made them read-only, or restored them.
    case health(StoreHealth)
    /// The subscription failed with this error, and has ended.
    case ended(LarderError)
  }

  /// The kind of the change.
  public var kind: Kind
  /// The name of the namespace at that time; nil for ``Kind/missed(_:)``, ``Kind/ended(_:)`` and ``Kind/health(_:)``.
  public var namespace: String?
  /// The key, or its first ``longestKey`` bytes; nil unless an entry changed.
  public var key: Key?
  /// Whether the key has more bytes than ``key``.
  public var isKeyCut = false
  /// Bytes of the value before the change, or of all values of a cleared namespace; nil if there was none, or the record
  /// was damaged.
  public var sizeBefore: Int?
  /// Bytes of the value after the change; nil if no value is left.
  public var sizeAfter: Int?
  /// When the entry expires after it was set or touched; nil for never, and for other changes.
  package var expires: Timestamp?
  /// When the batch of the change began, by the clock of its store.
  public var time: Timestamp?
  /// The number of the commit that made the change visible.
  public var transaction: UInt64?
  /// The process that made the change.
  public var process: Int?

  /// The most bytes of a key that a change carries.
  public static let longestKey = 64

  init(_ kind: Kind) { self.kind = kind }

  /// Why the entry was removed; nil for other changes.
  public var reason: RemovalReason? {
    if case .removed(let reason) = kind { reason } else { nil }
  }
}

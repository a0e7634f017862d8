/// Something that happened to an entry or a namespace, committed by this process or another.
public struct Change: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    /// A value was stored.
    case set
    /// The entry's lifetime began anew or got another end.
    case touched
    case removed(RemovalReason)
    /// The namespace was emptied.
    case cleared
    /// The namespace has another name since.
    case renamed(to: String)
    /// So many changes, of whatever namespace, went by unseen; nil if nobody knows how many.
    ///
    /// What follows is complete again: whoever mirrors something looks at it anew.
    case missed(Int?)
    /// The store cannot be watched. Nothing follows.
    case ended(LarderError)
  }

  public var kind: Kind
  /// The namespace by the name it had; nil if the change is of none: ``Kind/missed(_:)``, ``Kind/ended(_:)``.
  public var namespace: String?
  /// The key, or its first ``longestKey`` bytes; nil unless the change is of an entry.
  public var key: Key?
  /// Whether the key has more bytes than ``key``.
  public var isKeyCut = false
  /// Bytes of the value, or of all values of a cleared namespace, before the change; nil if there was none or it could
  /// not be read.
  public var sizeBefore: Int?
  /// Bytes of the value after the change; nil if there is none.
  public var sizeAfter: Int?
  /// When the batch of the change began, by the clock of its store.
  public var time: Timestamp?
  /// The number of the commit the change became visible with.
  public var transaction: UInt64?
  /// The process that made the change.
  public var process: Int?

  public static let longestKey = 64

  init(_ kind: Kind) { self.kind = kind }

  /// Why the entry went; nil if it did not.
  public var reason: RemovalReason? {
    if case .removed(let reason) = kind { reason } else { nil }
  }
}

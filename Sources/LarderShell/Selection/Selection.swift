package import Larder

/// What a command is about: the one language in which every verb is told its entries.
package struct Selection: Sendable, Hashable {
  package enum Pattern: Sendable, Hashable {
    case key([UInt8])
    case glob(Glob)

    package func matches(_ key: [UInt8]) -> Bool {
      switch self {
      case .key(let exact): key == exact
      case .glob(let glob): glob.matches(key)
      }
    }
  }

  /// A condition; all of them must hold.
  package enum Filter: Sendable, Hashable {
    case match(Glob)
    case regex(KeyRegex)
    case tag([UInt8])
    /// The value holds these bytes.
    case contains([UInt8])
    /// Expires, and not after this moment.
    case expiring(by: Timestamp)
    /// Has expired and is still in the file; without this one such entries are hidden.
    case expired
    /// Never expires.
    case permanent
    /// Written before this moment.
    case older(than: Timestamp)
    /// Written at this moment or later.
    case newer(than: Timestamp)
    /// Not used since this moment.
    case idle(since: Timestamp)
    case larger(than: Int)
    case smaller(than: Int)
  }

  package enum Sort: String, Sendable, CaseIterable { case key, size, expiry, written, used }

  /// Where more keys are read from.
  package enum KeyInput: Sendable, Hashable {
    /// One exact key a line.
    case lines
    /// A NUL between keys.
    case nulSeparated
  }

  package var namespaces: NamespaceChoice
  /// One of them must match; none lets every key pass.
  package var patterns: [Pattern] = []
  package var filters: [Filter] = []
  /// Nil is the order of the keys.
  package var sort: Sort?
  package var isReversed = false
  /// Nil leaves the number to the command.
  package var limit: Limit?
  /// Begin behind this key.
  package var after: [UInt8]?
  package var input: KeyInput?

  /// Nothing was said that narrows it: no namespace, no key, no filter.
  package var isBare: Bool {
    namespaces == .unnamed && patterns.isEmpty && filters.isEmpty && input == nil
  }

  /// Entries that have expired and are still in the file are asked for.
  package var wantsExpired: Bool { filters.contains(.expired) }
}

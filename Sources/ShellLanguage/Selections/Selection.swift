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
    case expiring(by: UnixTime)
    /// Has expired and is still in the file; without this one such entries are hidden.
    case expired
    /// Never expires.
    case permanent
    /// Written before this moment.
    case older(than: UnixTime)
    /// Written at this moment or later.
    case newer(than: UnixTime)
    /// Not used since this moment.
    case idle(since: UnixTime)
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

  package init(namespaces: NamespaceChoice) { self.namespaces = namespaces }

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

/// The keys a pattern can be about: a stretch in their order, so that nothing else is read.
package enum KeyRange: Sendable, Hashable {
  case key([UInt8])
  case prefix([UInt8])

  fileprivate var start: [UInt8] {
    switch self {
    case .key(let bytes), .prefix(let bytes): bytes
    }
  }
}

extension Selection {
  /// Ranges without overlap, in the order of keys, that hold every key which a pattern matches.
  package var ranges: [KeyRange] {
    guard !patterns.isEmpty else { return input == nil ? [.prefix(matchPrefix)] : [] }
    var prefixes: [[UInt8]] = []
    var keys: Set<[UInt8]> = []
    for pattern in patterns {
      switch pattern {
      case .key(let key): keys.insert(key)
      case .glob(let glob): prefixes.append(glob.prefix)
      }
    }
    // A prefix stands right before those it begins.
    var apart: [[UInt8]] = []
    for prefix in prefixes.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where !(apart.last.map(prefix.starts) ?? false) {
      apart.append(prefix)
    }
    let alone = keys.filter { key in !apart.contains(where: key.starts) }
    return (apart.map(KeyRange.prefix) + alone.map(KeyRange.key))
      .sorted { $0.start.lexicographicallyPrecedes($1.start) }
  }

  /// The words name keys and nothing else: what is not there was expected to be.
  package var isOfKeys: Bool {
    !patterns.isEmpty && input == nil
      && patterns.allSatisfy { if case .key = $0 { true } else { false } }
  }

  /// Every key that passes `--match` begins with this.
  private var matchPrefix: [UInt8] {
    for case .match(let glob) in filters { return glob.prefix }
    return []
  }
}

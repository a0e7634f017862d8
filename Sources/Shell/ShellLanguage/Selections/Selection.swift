/// The entries that a command concerns. Every command takes the same selection language.
package struct Selection: Sendable, Hashable {
  package enum Pattern: Sendable, Hashable {
    case key([UInt8])
    case glob(Glob)

    package var isGlob: Bool { if case .glob = self { true } else { false } }

    package func matches(_ key: [UInt8]) -> Bool {
      switch self {
      case .key(let exact): key == exact
      case .glob(let glob): glob.matches(key)
      }
    }
  }

  package enum Sort: Sendable, Hashable {
    case key, size, expiry, written, used
    case operand(QueryOperand)

    private static let facts: [(name: String, sort: Sort)] = [
      ("key", .key), ("size", .size), ("expiry", .expiry), ("written", .written), ("used", .used),
    ]

    package static var names: [String] { facts.map(\.name) }

    package init?(name: String) {
      guard let sort = Self.facts.first(where: { $0.name == name })?.sort else { return nil }
      self = sort
    }
  }

  /// The form of the keys on standard input.
  package enum KeyInput: Sendable, Hashable {
    /// One exact key a line.
    case lines
    /// A NUL between keys.
    case nulSeparated
    /// The records of JSON output, in an array or one a line.
    case records
  }

  package init(namespaces: NamespaceChoice) { self.namespaces = namespaces }

  package var namespaces: NamespaceChoice
  /// One of them must match; none lets every key pass.
  package var patterns: [Pattern] = []
  /// The conditions that an entry must meet, all of them; every filter option is one.
  package var filters: [Expression] = []
  /// Nil for the order of the keys.
  package var sort: Sort?
  package var isReversed = false
  /// Nil lets the command decide.
  package var limit: Limit?
  /// The limit as a number.
  package var most: Int { limit?.most ?? .max }
  /// Start after this key.
  package var after: [UInt8]?
  package var input: KeyInput?
  /// Patterns, regular expressions and contained text ignore case.
  package var ignoresCase = false

  /// No namespace, no key and no filter narrows it.
  package var isBare: Bool {
    namespaces == .unnamed && patterns.isEmpty && filters.isEmpty && input == nil
  }

  /// The conditions, taken apart as far as each must hold alone.
  package var conditions: [Expression] { filters.flatMap(\.conjuncts) }

  /// Selects entries that have expired and are still in the file; without that they are hidden.
  package var wantsExpired: Bool { conditions.contains(.isExpired) }
}

/// A range of keys that contains every match of a pattern, so that nothing else is read.
package enum KeyRange: Sendable, Hashable {
  case key([UInt8])
  case prefix([UInt8])

  fileprivate var start: [UInt8] {
    switch self {
    case .key(let bytes), .prefix(let bytes): bytes
    }
  }

  package func contains(_ key: [UInt8]) -> Bool {
    switch self {
    case .key(let own): own == key
    case .prefix(let prefix): key.starts(with: prefix)
    }
  }
}

extension Selection {
  /// Its entries are found by their keys alone, in the order of keys.
  package var needsKeysOnly: Bool {
    filters.isEmpty && sort ?? .key == .key && !isReversed && input == nil
      && patterns.allSatisfy(\.isGlob)
  }

  /// Disjoint ranges, in the order of keys, that contain every key which a pattern matches.
  package var ranges: [KeyRange] {
    guard !patterns.isEmpty else {
      return input == nil ? [conditions.lazy.compactMap(\.range).first ?? .prefix([])] : []
    }
    var prefixes: [[UInt8]] = []
    var keys: Set<[UInt8]> = []
    for pattern in patterns {
      switch pattern {
      case .key(let key): keys.insert(key)
      case .glob(let glob): prefixes.append(glob.prefix)
      }
    }
    // A prefix sorts right before the prefixes that begin with it.
    var apart: [[UInt8]] = []
    for prefix in prefixes.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where !(apart.last.map(prefix.starts) ?? false) {
      apart.append(prefix)
    }
    let alone = keys.filter { key in !apart.contains(where: key.starts) }
    return (apart.map(KeyRange.prefix) + alone.map(KeyRange.key))
      .sorted { $0.start.lexicographicallyPrecedes($1.start) }
  }

  /// The words list the keys: a change of them needs no confirmation, and an absent key is an error.
  package var listsKeys: Bool { isOfKeys && filters.isEmpty }

  /// One key is written out, with at most one namespace: the form of its value needs no key.
  package var isSingleKey: Bool {
    if case .named(let names) = namespaces, names.count > 1 { return false }
    return listsKeys && patterns.count == 1 && namespaces != .all && !isArranged
  }

  /// The words ask for an order or a part of the entries.
  package var isArranged: Bool { sort != nil || limit != nil || after != nil || isReversed }

  /// The words name keys and no pattern.
  package var isOfKeys: Bool {
    !patterns.isEmpty && input == nil
      && patterns.allSatisfy { if case .key = $0 { true } else { false } }
  }
}

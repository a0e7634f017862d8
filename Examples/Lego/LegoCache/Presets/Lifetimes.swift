public import Larder

/// The lifetime of an entity.
public enum Lifetime: Sendable, Hashable {
  case never
  case after(Duration)
  /// Until a moment: entities that are stored later have expired already.
  case at(Timestamp)
  /// The kind is not stored.
  case off
}

/// The rule of one kind of entity.
public struct EntityRule: Sendable, Hashable {
  public var lifetime: Lifetime
  /// Whether an expired entity is returned as stale if the network fails.
  public var servesStaleOnError: Bool

  public init(_ lifetime: Lifetime, servesStaleOnError: Bool = true) {
    self.lifetime = lifetime
    self.servesStaleOnError = servesStaleOnError
  }

  public static let off = EntityRule(.off, servesStaleOnError: false)

  /// The stale window of fetched entities, for a network failure.
  public static let longestStaleness = Duration.seconds(30 * 86_400)

  var staleness: Duration { servesStaleOnError ? Self.longestStaleness : .zero }
}

/// The rules of all kinds on disk: a standard rule, and rules of single kinds.
public struct Lifetimes: Sendable, Hashable {
  public var standard: EntityRule
  /// A kind's own rule overrides `standard`.
  public var own: [EntityKind: EntityRule]

  public init(standard: EntityRule, own: [EntityKind: EntityRule] = [:]) {
    self.standard = standard
    self.own = own
  }

  public subscript(kind: EntityKind) -> EntityRule {
    get { own[kind] ?? standard }
    set { own[kind] = newValue }
  }

  /// Whether no kind is cached.
  public var isOff: Bool { EntityKind.allCases.allSatisfy { self[$0].lifetime == .off } }
}

extension Lifetimes {
  /// A day for all kinds.
  public static let `default` = Lifetimes(standard: .after(hours: 24))

  /// A week; colours for ever, sets a day.
  public static let longTerm = Lifetimes(
    standard: .after(days: 7),
    own: [
      .colors: EntityRule(.never),
      .themes: .after(days: 30),
      .categories: .after(days: 30),
      .parts: .after(days: 7),
      .elements: .after(days: 7),
      .sets: .after(days: 1),
    ])

  /// An hour; colours a day.
  public static let shortTerm = Lifetimes(
    standard: .after(hours: 1),
    own: [
      .colors: .after(days: 1),
      .themes: .after(hours: 12),
      .categories: .after(hours: 12),
      .parts: .after(hours: 2),
      .elements: .after(hours: 2),
      .sets: .after(hours: 1),
    ])

  /// Nothing is cached.
  public static let disabled = Lifetimes(standard: .off)
}

extension EntityRule {
  fileprivate static func after(hours: Int) -> EntityRule {
    EntityRule(.after(.seconds(hours * 3600)))
  }

  fileprivate static func after(days: Int) -> EntityRule { .after(hours: days * 24) }
}

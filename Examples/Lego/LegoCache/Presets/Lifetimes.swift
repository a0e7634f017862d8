public import Larder

/// The rule of one kind of entity.
public struct EntityRule: Sendable, Hashable {
  /// The lifetime; nil if the kind is not stored.
  public var expires: Expiration?
  /// Whether an expired entity is returned as stale if the network fails.
  public var servesStaleOnError: Bool

  public init(_ expires: Expiration?, servesStaleOnError: Bool = true) {
    (self.expires, self.servesStaleOnError) = (expires, servesStaleOnError)
  }

  public static let off = EntityRule(nil, servesStaleOnError: false)
}

/// The rules of all kinds on disk: a standard rule, and rules of single kinds.
public struct Lifetimes: Sendable, Hashable {
  public var standard: EntityRule
  /// A kind's own rule overrides `standard`.
  public var own: [EntityKind: EntityRule]

  public init(standard: EntityRule, own: [EntityKind: EntityRule] = [:]) {
    (self.standard, self.own) = (standard, own)
  }

  /// - Parameter own: hours of single kinds; nil for never.
  private init(hours: Int, own: [EntityKind: Int?] = [:]) {
    self.init(
      standard: EntityRule(.after(.hours(hours))),
      own: own.mapValues { EntityRule($0.map { .after(.hours($0)) } ?? .never) })
  }

  public subscript(kind: EntityKind) -> EntityRule {
    get { own[kind] ?? standard }
    set { own[kind] = newValue }
  }

  /// Whether no kind is cached.
  public var isOff: Bool { EntityKind.allCases.allSatisfy { self[$0].expires == nil } }

  /// A day for all kinds.
  public static let `default` = Lifetimes(hours: 24)
  /// A week; colours for ever, sets a day, themes and categories 30 days.
  public static let longTerm = Lifetimes(
    hours: 7 * 24, own: [.colors: nil, .themes: 30 * 24, .categories: 30 * 24, .sets: 24])
  /// An hour; colours a day.
  public static let shortTerm = Lifetimes(
    hours: 1, own: [.colors: 24, .themes: 12, .categories: 12, .parts: 2, .elements: 2])
  /// Nothing is cached.
  public static let disabled = Lifetimes(standard: .off)
}

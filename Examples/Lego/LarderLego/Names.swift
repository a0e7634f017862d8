import ArgumentParser
import LegoCache

/// A kind as people type it, `parts` or `part`; the namespace's name will do too.
struct KindName: ExpressibleByArgument {
  var kind: EntityKind

  init?(argument: String) {
    guard
      let kind = EntityKind.allCases.first(where: {
        [$0.word, $0.singular, $0.namespace].contains(argument)
          || $0 == .sets && argument.hasPrefix("minifig")
      })
    else { return nil }
    self.kind = kind
  }

  static var allValueStrings: [String] { EntityKind.allCases.map(\.word) }
}

/// A preset as people type it.
enum LifetimesName: String, ExpressibleByArgument, CaseIterable {
  case `default`
  case longTerm = "long-term"
  case shortTerm = "short-term"
  case never

  var lifetimes: Lifetimes {
    switch self {
    case .default: .default
    case .longTerm: .longTerm
    case .shortTerm: .shortTerm
    case .never: Lifetimes(standard: EntityRule(.never))
    }
  }
}

extension EntityKind {
  /// The word for one of them.
  var singular: String {
    switch self {
    case .categories: "category"
    default: String(word.dropLast())
    }
  }
}

/// A plan as people type it.
enum PlanName: String, ExpressibleByArgument, CaseIterable {
  case `default`, performance, storage
  case memoryOnly = "memory-only"
  case databaseOnly = "database-only"
  case disabled

  var plan: CachePlan {
    switch self {
    case .default: .default
    case .performance: .performance
    case .storage: .storage
    case .memoryOnly: .memoryOnly
    case .databaseOnly: .databaseOnly
    case .disabled: .disabled
    }
  }
}

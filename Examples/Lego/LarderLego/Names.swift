import ArgumentParser
import LegoCache

/// A kind as people type it, `parts`; the namespace's name will do too.
struct KindName: ExpressibleByArgument {
  var kind: EntityKind

  init?(argument: String) {
    guard
      let kind = EntityKind.allCases.first(where: {
        $0.word == argument || $0.namespace == argument
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

/// What the pages of a catalog have together: each pillar once, with its funnels of all pages.
public struct CatalogContents: Codable, Sendable, Hashable {
  public private(set) var pillars: [PillarGroup] = []
  public private(set) var uncategorized: [Funnel] = []

  public init() {}

  public init(_ pages: some Sequence<CatalogPage>) {
    for page in pages { append(page) }
  }

  /// Every page names all pillars, whether or not it has any of their funnels.
  private mutating func append(_ page: CatalogPage) {
    for group in page.pillars {
      if let index = pillars.firstIndex(where: { $0.pillar.id == group.pillar.id }) {
        pillars[index].funnels += group.funnels
      } else {
        pillars.append(group)
      }
    }
    uncategorized += page.uncategorized
  }

  /// All funnels, in the catalog's order.
  public var funnels: [Funnel] {
    (pillars.flatMap(\.funnels) + uncategorized).sorted(by: Funnel.isBefore)
  }
}

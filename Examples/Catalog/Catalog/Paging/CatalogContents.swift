/// The contents of all pages: each pillar once, with its funnels of all pages.
public struct CatalogContents: Codable, Sendable, Hashable {
  public private(set) var pillars: [PillarGroup] = []
  public private(set) var uncategorized: [Funnel] = []
  /// The funnels that cannot be decoded, and why.
  public private(set) var skipped: [String] = []

  public init() {}

  public init(_ pages: some Sequence<CatalogPage>) {
    var seen: Set<String> = []
    for page in pages { append(page, &seen) }
  }

  /// Every page has all pillars, also without funnels. A funnel on several pages counts once, in its first place.
  private mutating func append(_ page: CatalogPage, _ seen: inout Set<String>) {
    func new(_ funnels: [Funnel]) -> [Funnel] { funnels.filter { seen.insert($0.id).inserted } }
    for var group in page.pillars {
      group.funnels = new(group.funnels)
      if let index = pillars.firstIndex(where: { $0.pillar.id == group.pillar.id }) {
        pillars[index].funnels += group.funnels
      } else {
        pillars.append(group)
      }
    }
    uncategorized += new(page.uncategorized)
    skipped += page.skipped
  }

  /// All funnels, in the catalog's order.
  public var funnels: [Funnel] {
    (pillars.flatMap(\.funnels) + uncategorized).sorted(by: Funnel.isBefore)
  }

  /// The contents with only the funnels whose titles contain a text, in any case; all for nil.
  public func searching(_ text: String?) -> CatalogContents {
    guard let text = text?.lowercased() else { return self }
    func fits(_ funnel: Funnel) -> Bool { funnel.title.lowercased().contains(text) }
    var found = self
    found.pillars = pillars.map { PillarGroup(pillar: $0.pillar, funnels: $0.funnels.filter(fits)) }
    found.uncategorized = uncategorized.filter(fits)
    return found
  }
}

import Service

/// A questionnaire in the catalog, with the fields that this module uses.
public struct Funnel: Codable, Sendable, Hashable {
  public var id, slug, title: String

  /// The catalog's order: by title without regard to case, then by slug.
  public static func isBefore(_ left: Funnel, _ right: Funnel) -> Bool {
    (left.title.lowercased(), left.slug) < (right.title.lowercased(), right.slug)
  }
}

public struct Pillar: Codable, Sendable, Hashable {
  public var id: String
  public var title: String?
}

/// A page of the catalog by the contract. It must have `pillars`, which may be null; without `pagination` it is complete.
public struct CatalogPage: Decodable, Sendable {
  struct Group: Decodable {
    var pillar: Pillar
    var funnels: LenientList<Funnel>?
  }
  struct Pagination: Decodable {
    var hasMore: Bool?
    var nextCursor: String?
  }

  var pillars: LenientList<Group>?
  var uncategorized: LenientList<Funnel>?
  private var pagination: Pagination?

  private enum CodingKeys: String, CodingKey {
    case pillars, pagination
    case uncategorized = "uncategorized_funnels"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    pillars = try fields.decode(LenientList<Group>?.self, forKey: .pillars)
    uncategorized = try fields.decodeIfPresent(LenientList<Funnel>.self, forKey: .uncategorized)
    pagination = try fields.decodeIfPresent(Pagination.self, forKey: .pagination)
  }

  var funnels: [Funnel] {
    (pillars?.elements ?? []).flatMap { $0.funnels?.elements ?? [] }
      + (uncategorized?.elements ?? [])
  }

  /// The opaque cursor of the next page; nil on the last page, and empty if the page promises more but has no cursor.
  var nextCursor: String? {
    let cursor = pagination?.nextCursor ?? ""
    return pagination?.hasMore ?? !cursor.isEmpty ? cursor : nil
  }
}

/// The contents of all pages: each pillar once, with its funnels of all pages. A funnel counts once, at its first place.
public struct CatalogContents: Codable, Sendable, Hashable {
  public struct Group: Codable, Sendable, Hashable {
    public var pillar: Pillar
    public var funnels: [Funnel]
  }

  public private(set) var pillars: [Group] = []
  public private(set) var uncategorized: [Funnel] = []
  /// The parts that cannot be decoded, and why: `naps: data.pillars[0].funnels[1].title is missing`.
  public private(set) var skipped: [String] = []

  init(_ pages: some Sequence<CatalogPage>) {
    var seen: Set<String> = []
    func new(_ list: LenientList<Funnel>?) -> [Funnel] {
      skipped += list?.skipped ?? []
      return (list?.elements ?? []).filter { seen.insert($0.id).inserted }
    }
    for page in pages {
      skipped += page.pillars?.skipped ?? []
      for group in page.pillars?.elements ?? [] {
        let funnels = new(group.funnels)
        if let index = pillars.firstIndex(where: { $0.pillar.id == group.pillar.id }) {
          pillars[index].funnels += funnels
        } else {
          pillars.append(Group(pillar: group.pillar, funnels: funnels))
        }
      }
      uncategorized += new(page.uncategorized)
    }
  }

  public var funnels: [Funnel] {
    (pillars.flatMap(\.funnels) + uncategorized).sorted(by: Funnel.isBefore)
  }
}

/// The service refused a cursor, even after a second read of the catalog from its first page.
public struct InvalidCursor: Error, CustomStringConvertible {
  let message: String
  public var description: String { "the catalog cannot be read page by page: \(message)" }
}

/// A service may send a number where this module expects text, so this method replaces the method of the standard library.
extension KeyedDecodingContainer {
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try decode(lenient: type, forKey: key)
  }
}

import Service

/// A page of the catalog, as its contract has it.
public struct CatalogPage: Decodable, Sendable, Hashable {
  public struct Pagination: Decodable, Sendable, Hashable {
    public var hasMore: Bool
    /// Opaque; nil on the last page.
    public var nextCursor: String?

    private enum CodingKeys: String, CodingKey { case hasMore, nextCursor }

    init() { hasMore = false }

    public init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      nextCursor = try fields.decode(Lenient<String>.self, forKey: .nextCursor).wrappedValue
      hasMore =
        try fields.decode(Lenient<Bool>.self, forKey: .hasMore).wrappedValue
        ?? (nextCursor?.isEmpty == false)
    }
  }

  public var pillars: [PillarGroup]
  /// Funnels without a pillar.
  public var uncategorized: [Funnel]
  public var pagination: Pagination
  /// The funnels that cannot be decoded, and why: `naps: data.pillars[0].funnels[1].title is missing`.
  public var skipped: [String] = []

  private enum CodingKeys: String, CodingKey {
    case pillars, pagination
    case uncategorized = "uncategorized_funnels"
  }

  /// A pillar with the funnels that can be decoded.
  private struct Group: Decodable {
    var pillar: Attempt<Pillar>?
    var funnels: [Attempt<Funnel>]?
  }

  /// An answer without `pagination` has the whole catalog; one without `uncategorized_funnels` has none of them, and a null list
  /// is empty. The funnels of a pillar that cannot be decoded have none. An answer in which nothing can be decoded is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let groups =
      try fields.decodeNil(forKey: .pillars)
      ? [] : fields.decode([Attempt<Group>].self, forKey: .pillars)
    var others = try fields.decodeIfPresent([Attempt<Funnel>].self, forKey: .uncategorized) ?? []
    // A page that lists a funnel twice would otherwise look like pages of two versions.
    var seen: Set<String> = []
    func once(_ funnels: [Attempt<Funnel>]) -> [Funnel] {
      funnels.good().filter { seen.insert($0.id).inserted }
    }
    pillars = []
    skipped = groups.compactMap(\.fault)
    for group in groups.good() {
      let funnels = group.funnels ?? []
      switch group.pillar?.result {
      case .success(let pillar):
        pillars.append(PillarGroup(pillar: pillar, funnels: once(funnels)))
        skipped += funnels.compactMap(\.fault)
      case .failure, nil:
        skipped.append(group.pillar?.fault ?? "a pillar is null")
        others += funnels
      }
    }
    uncategorized = once(others)
    skipped += others.compactMap(\.fault)
    pagination =
      try fields.decodeIfPresent(Pagination.self, forKey: .pagination)
      ?? Pagination()
    if funnels.isEmpty, let reason = skipped.first {
      throw DecodingError.dataCorruptedError(forKey: .pillars, in: fields, debugDescription: reason)
    }
  }

  public var funnels: [Funnel] { pillars.flatMap(\.funnels) + uncategorized }
}

/// The wrapper of every answer.
struct Envelope<Contents: Decodable>: Decodable { var data: Contents }

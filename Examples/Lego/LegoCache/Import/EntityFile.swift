import Service

/// A file of JSON with entities: an array, or a list as the API answers it, with the array in `results`.
struct EntityFile<Entity: LegoEntity>: Decodable {
  let list: LenientList<DumpRow<Entity>>
  /// Why it is not the whole list; nil if it is, or does not say.
  let gap: String?

  private enum CodingKeys: String, CodingKey { case count, results }

  init(from decoder: any Decoder) throws {
    guard let fields = try? decoder.container(keyedBy: CodingKeys.self), fields.contains(.results)
    else {
      (list, gap) = (try LenientList(from: decoder), nil)
      return
    }
    list = try fields.decode(LenientList<DumpRow<Entity>>.self, forKey: .results)
    let found = list.elements.count + list.skipped.count
    let count = try fields.decode(Lenient<Int>.self, forKey: .count).wrappedValue ?? found
    gap = count > found ? "it has \(found) of \(count)" : nil
  }
}

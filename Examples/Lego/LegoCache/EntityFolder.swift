#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder of entities as JSON, one file for each kind (`colors.json`, ...) with an array in the API's shape.
public struct EntityFolder: Sendable {
  public let directory: String

  public init(directory: String) { self.directory = directory }

  /// All entities of a kind, in the order of the file.
  public func read<Entity: LegoEntity>(_ type: Entity.Type) throws -> [Entity] {
    let file = URL(filePath: directory).appending(path: "\(Entity.kind.word).json")
    return try JSONDecoder().decode([Entity].self, from: Data(contentsOf: file))
  }
}

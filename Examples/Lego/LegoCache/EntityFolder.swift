// The words of its errors.
import Foundation
import Service

/// A folder of entities as JSON, one file for each kind (`colors.json`, ...) with an array in the API's shape.
public struct EntityFolder: Sendable {
  public let directory: String

  public init(directory: String) { self.directory = directory }

  /// The kinds that have a file in the folder.
  public var kinds: [EntityKind] {
    EntityKind.allCases.filter { FileManager.default.fileExists(atPath: file(of: $0).path) }
  }

  /// All entities of a kind, in the order of the file.
  public func read<Entity: LegoEntity>(_ type: Entity.Type) throws(DumpError) -> [Entity] {
    let file = file(of: Entity.kind)
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch {
      throw DumpError(
        .unreadable, file: file.lastPathComponent, message: error.localizedDescription)
    }
    do {
      return try JSONDecoder().decode([Entity].self, from: data)
    } catch {
      throw DumpError(
        .malformed, file: file.lastPathComponent,
        message: (error as? DecodingError)?.words ?? "\(error)")
    }
  }

  private func file(of kind: EntityKind) -> URL {
    URL(filePath: directory).appending(path: "\(kind.word).json")
  }
}

extension EntityFolder: EntitySource {
  public func estimate(_ kind: EntityKind) -> Int { 0 }

  public func read<Entity: LegoEntity>(
    _ type: Entity.Type, _ body: (Entity) throws -> Void
  ) throws -> SkippedRows {
    try read(type).forEach(body)
    return SkippedRows()
  }
}

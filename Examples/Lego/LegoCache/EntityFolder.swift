#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
      throw DumpError(.unreadable, file: file.lastPathComponent, message: "\(error)")
    }
    do {
      return try JSONDecoder().decode([Entity].self, from: data)
    } catch {
      throw DumpError(.malformed, file: file.lastPathComponent, message: Self.reason(error))
    }
  }

  private func file(of kind: EntityKind) -> URL {
    URL(filePath: directory).appending(path: "\(kind.word).json")
  }

  /// The place in the array and what is wrong there.
  private static func reason(_ error: any Error) -> String {
    let context: DecodingError.Context
    switch error {
    case DecodingError.dataCorrupted(let found): context = found
    case DecodingError.keyNotFound(_, let found): context = found
    case DecodingError.typeMismatch(_, let found): context = found
    case DecodingError.valueNotFound(_, let found): context = found
    default: return "\(error)"
    }
    let path = context.codingPath.map { key in
      key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
    }
    return (path.isEmpty ? [] : [path.joined(), ": "]).joined() + context.debugDescription
  }
}

// FoundationEssentials has neither FileHandle nor Process, and both are needed to read a file bit by bit.
import Foundation

/// A stream of bytes, read in chunks.
public protocol ByteSource {
  /// The next chunk, never empty; `nil` at the end. An error ends the source too.
  func next() throws(DumpError) -> [UInt8]?
}

/// A file's bytes, decompressed if they are gzip.
public enum FileSource {
  static let chunk = 65_536

  /// Opens a file; gzip is known by its first two bytes, or by a name that ends in `.gz`.
  public static func open(_ path: String) throws(DumpError) -> any ByteSource {
    let name = URL(filePath: path).lastPathComponent
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      let start = try file.read(upToCount: 2)
      try file.seek(toOffset: 0)
      if start == Data([0x1f, 0x8b]) || name.hasSuffix(".gz") {
        return try GunzipSource(file, name: name)
      }
      return PlainSource(file, name: name)
    } catch let error as DumpError {
      throw error
    } catch {
      throw DumpError(.unreadable, file: name, message: error.localizedDescription)
    }
  }
}

final class PlainSource: ByteSource {
  private let file: FileHandle
  private let name: String

  init(_ file: FileHandle, name: String) {
    self.file = file
    self.name = name
  }

  func next() throws(DumpError) -> [UInt8]? {
    do {
      guard let data = try file.read(upToCount: FileSource.chunk), !data.isEmpty else { return nil }
      return Array(data)
    } catch {
      throw DumpError(.unreadable, file: name, message: error.localizedDescription)
    }
  }
}

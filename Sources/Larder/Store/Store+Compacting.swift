import LMDB
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What compacting made of a store's data file.
public struct Compaction: Sendable, Hashable {
  /// Bytes of the file before, and of what took its place.
  public var before: Int
  public var after: Int
}

extension Store {
  /// Rewrites the data file of the store at `path` without its free pages, in full ones, and so makes it as small as it
  /// can be: a file otherwise never shrinks.
  ///
  /// Nobody may have the store open. If this process has, or another one, ``LarderError/Code/busy`` is thrown, which names
  /// the processes; meanwhile none can open it. The disk must have room for both files. A kill or a power cut at any moment
  /// leaves the old file or the new one. O(entries).
  ///
  /// - Parameter shouldContinue: told from time to time how many records of how many were copied; false stops it.
  /// - Returns: nil if it was stopped; then nothing has changed.
  public static func compact(
    at path: String, options: Options = Options(),
    _ shouldContinue: (_ done: Int, _ all: Int) -> Bool = { _, _ in true }
  ) throws(LarderError) -> Compaction? {
    let environment = try StoreEngine.environmentToCompact(at: path, options)
    defer { environment.close() }
    let before = environment.fileSize
    do throws(LMDBError) {
      try environment.closeCompacting(shouldContinue)
    } catch .stopped {
      return nil
    } catch .occupied {
      throw try StoreEngine.occupied(environment)
    } catch {
      throw LarderError(error, path: environment.path)
    }
    return Compaction(before: before, after: environment.fileSize)
  }

  /// Makes a new store at `path`, where nothing may be, that holds what this one holds now, in a file as small as it can
  /// be. Others may read and write meanwhile; what is freed in the meantime cannot be used again before it is done.
  ///
  /// - Parameter shouldContinue: as in ``compact(at:options:_:)``.
  /// - Returns: nil if it was stopped; then nothing was made.
  public func copyCompacted(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool = { _, _ in true }
  ) throws(LarderError) -> Compaction? {
    do throws(OpenError) {
      try engine.environment.copyCompacted(to: path, shouldContinue)
    } catch {
      if error.cause == .stopped { return nil }
      throw LarderError(error)
    }
    return Compaction(
      before: engine.environment.fileSize, after: Environment.fileSize(at: path))
  }
}

extension StoreEngine {
  /// The environment, which nobody in this process has open.
  fileprivate static func environmentToCompact(
    at path: String, _ options: Store.Options
  ) throws(LarderError) -> Environment {
    var options = options
    options.create = false
    let environment = try environment(at: path, options: options)
    guard environment.attachment.withLock({ $0.object == nil }) else {
      throw LarderError(
        .busy, "\(environment.path) is open in this process", hint: "close it here first")
    }
    _ = try format(of: environment)
    return environment
  }

  /// Who else has the store open, as far as they have read of it.
  fileprivate static func occupied(_ environment: Environment) throws(LarderError) -> LarderError {
    do throws(LMDBError) {
      try environment.clearDeadReaders()
      let own = Int(ProcessInfo.processInfo.processIdentifier)
      let others = Set(try environment.readersNow().map(\.process)).subtracting([own]).sorted()
      let names =
        others.isEmpty
        ? "another process has"
        : others.count == 1
          ? "process \(others[0]) has"
          : "processes \(others.map(String.init).joined(separator: ", ")) have"
      return LarderError(
        .busy, "\(names) \(environment.path) open",
        hint: "close it there first, or make a compact copy")
    } catch {
      throw LarderError(error, path: environment.path)
    }
  }
}

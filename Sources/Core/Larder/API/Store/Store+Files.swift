import LMDB
import LarderSystem
import Synchronization

/// The sizes of a data file before and after it was compacted.
public struct Compaction: Sendable, Hashable {
  /// The size in bytes of the file before the compaction.
  public var before: Int
  /// The size in bytes of the new file.
  public var after: Int
}

extension Store {
  /// Changes the durability of the store at `path`.
  ///
  /// - Throws: ``LarderError/Code/busy`` if a process has the store open, ``LarderError/Code/notFound`` if `path` has no store.
  public static func change(durability: Durability, ofStoreAt path: String) throws(LarderError) {
    var options = Options(create: false, durability: durability)
    options.changesDurability = true
    try WriteBuffer.commit(at: path, options)
    try Store(at: path, options: options).close()
  }

  /// Rewrites the data file of the store at `path` without free pages. Only this call makes a data file smaller.
  ///
  /// No process can open the store during the compaction. The disk must have room for both files. A kill or a power failure at
  /// any moment leaves either the old or the new file. O(entries).
  ///
  /// - Parameter shouldContinue: gets the numbers of copied and of all records, several times. The result false stops the work.
  /// - Returns: nil if the compaction was stopped; then the store is unchanged.
  /// - Throws: ``LarderError/Code/busy`` if a process has the store open; the message names the processes.
  ///   ``LarderError/Code/readOnly`` if the options allow only reading.
  public static func compact(
    at path: String, options: Options = Options(),
    _ shouldContinue: (_ done: Int, _ all: Int) -> Bool = { _, _ in true }
  ) throws(LarderError) -> Compaction? {
    guard !options.isReadOnly else {
      throw LarderError(
        .readOnly, "\(path) cannot be compacted with options for reading only",
        hint: "compact it without readOnly and allowsForeignOwner")
    }
    try WriteBuffer.commit(at: path, options)
    var options = options
    options.create = false
    let environment = try Environment.open(at: path, options)
    // While the environment is its own attachment, no other thread of this process can use the environment.
    let isFree = environment.attachment.withLock { attachment in
      defer { attachment.object = attachment.object ?? environment }
      return attachment.object == nil
    }
    guard isFree else {
      throw LarderError(
        .busy, "\(environment.path) is open in this process", hint: "close it here first")
    }
    _ = try StoreFormat(of: environment)
    defer { environment.close() }
    let before = environment.fileSize
    do throws(LMDBError) {
      try environment.closeCompacting(after: WriteBuffer.checkEmpty, shouldContinue)
    } catch .stopped {
      return nil
    } catch .occupied {
      throw try occupied(environment)
    } catch { throw environment.larderError(error) }
    return Compaction(before: before, after: environment.fileSize)
  }

  /// The error for a store that is open. Names the other processes that have a reader slot of the store.
  private static func occupied(_ environment: Environment) throws(LarderError) -> LarderError {
    do throws(LMDBError) {
      try environment.readerTable.clearDead()
      let own = Int(ownProcess)
      let others = Set(try environment.readerTable.readers().map(\.process)).subtracting([own])
        .sorted()
      let names =
        others.isEmpty
        ? "another process has"
        : others.count == 1
          ? "process \(others[0]) has"
          : "processes \(others.map(String.init).joined(separator: ", ")) have"
      return LarderError(
        .busy, "\(names) \(environment.path) open",
        hint: "close it there first, or make a compact copy")
    } catch { throw environment.larderError(error) }
  }

  /// Makes a new store at `path` with the contents of this store, in a file without free pages. Other threads and processes may
  /// read and write during the copy. Until the copy is complete, LMDB cannot reuse freed pages, so this store's file may grow.
  /// The copy has the durability of this store; the copy of a temporary store has ``Durability/scratch``.
  ///
  /// - Parameter shouldContinue: as in ``compact(at:options:_:)``.
  /// - Returns: nil if the copy was stopped; then no store was made.
  /// - Throws: ``LarderError/Code/exists`` if a file or directory is at `path`.
  public func copyCompacted(
    to path: String, _ shouldContinue: (_ done: Int, _ all: Int) -> Bool = { _, _ in true }
  ) throws(LarderError) -> Compaction? {
    try engine.settle()
    do throws(OpenError) { try engine.environment.copyCompacted(to: path, shouldContinue) } catch {
      if error.cause == .stopped { return nil }
      throw error.cause == .damagedPage ? engine.error(.damagedPage) : LarderError(error)
    }
    return Compaction(before: engine.environment.fileSize, after: Environment.fileSize(at: path))
  }

  /// Checks the store's files with a few system calls and no lock. Throws ``LarderError/Code/closed`` for a closed store.
  ///
  /// While a subscription exists, ``changes(in:)`` checks the health about once a second, and reports changes of the health.
  public func health() throws(LarderError) -> StoreHealth {
    let environment = engine.environment
    if !environment.isOpen, !environment.isBroken { throw engine.error(environment.phaseError) }
    return StoreHealth(of: environment, needsWriting: !isReadOnly)
  }

  /// Whether a process was killed while it created a store at `path`. If so, another process can still create a store there.
  package static func isUnfinished(at path: String) -> Bool { Environment.isUnfinished(at: path) }

  package var isClosed: Bool { !engine.environment.isOpen }
}

/// Whether an open store can still use its files.
public enum StoreHealth: Sendable, Hashable {
  /// The files are in their places, and can be written if the store was opened for writing.
  case healthy
  /// The directory or a file was deleted or moved. Reads still use the old files, and writes throw. Close and reopen the store.
  case missing
  /// Another store is at the path. Reads still use the old files, and writes throw. Close and reopen the store.
  case replaced
  /// The process may no longer write the directory or a file, or refuses writes after damage or a failed sync. The text is the
  /// reason. Reads still work, but not after a failed sync.
  case unwritable(String)

  init(of environment: Environment, needsWriting: Bool) {
    self =
      switch environment.fileProblem(needsWriting: needsWriting) {
      case nil: .healthy
      case .missing: .missing
      case .replaced: .replaced
      case .unwritable(let error): .unwritable(error.description)
      }
  }
}

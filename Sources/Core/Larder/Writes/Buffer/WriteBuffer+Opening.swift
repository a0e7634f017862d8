import LMDB
import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension WriteBuffer {
  /// Makes the file, or keeps the file that killed processes have left. Only a process that has the store open alone calls this.
  /// Records that do not belong to the data, such as those of an earlier boot, are dropped.
  static func prepare(of environment: Environment, _ options: Store.Options) {
    // Most stores have no buffer and want none.
    guard wanted(by: options) > 0 || FileStatus.of(path(in: environment)) != nil else { return }
    do throws(LarderError) {
      let format = try StoreFormat(of: environment)
      let boot = if let boot = options.hooks.boot { boot } else { try currentBoot(environment) }
      prepare(of: environment, store: format.identity, bytes: wanted(by: options), boot)
    } catch {
      // The opening meets the same error, and reports it.
    }
  }

  /// The bytes that the first opening asks for. Trials set them by the environment.
  static func wanted(by options: Store.Options) -> Int { forced ?? options.writeBuffer }

  private static let forced = ProcessInfo.processInfo.environment["LARDER_WRITE_BUFFER"].flatMap {
    Int($0)
  }

  private static func currentBoot(_ environment: Environment) throws(LarderError) -> BootIdentity {
    do throws(SystemError) { return try BootIdentity.current() } catch {
      throw environment.larderError(error)
    }
  }

  private static func prepare(
    of environment: Environment, store: [UInt8], bytes: Int, _ boot: BootIdentity
  ) {
    guard let data = FileStatus.of(environment.path + "/data.mdb") else { return }
    let file = FileIdentity(data)
    let origin = [boot.high, boot.low, file.device, file.inode]
    let table = table(of: environment, store)
    if table.openExisting() {
      if keeps(table.view, origin, of: environment) { return }
    }
    do throws(SystemError) {
      try FileStatus.remove(path(in: environment))
    } catch {
      return
    }
    guard bytes > 0, environment.durability != .durable else { return }
    let newest = environment.lastTransaction
    table.open(making: BufferLayout(bytes: bytes).count) { view in
      for (index, word) in origin.enumerated() {
        view.store(word, wide: BufferLayout.Place.origin + index)
      }
      view.store(1, wide: BufferLayout.Place.watched)
      view.store(1, wide: BufferLayout.Place.dependents)
      view.store(BufferState.first.word, wide: BufferLayout.Place.state)
      view.store(newest, wide: BufferLayout.Place.base)
      view.store(newest, wide: BufferLayout.Place.base + 1)
    }
  }

  /// Commits the records that killed processes have left, before the data file is replaced or changed below them.
  static func commit(at path: String, _ options: Store.Options) throws(LarderError) {
    guard FileStatus.of(path + "/" + MappedFile.buffer.rawValue) != nil else { return }
    var options = options
    options.create = false
    options.changesDurability = false
    options.durability = nil
    let environment = try Environment.open(at: path, options)
    // If this process has the store open, its handles stay open, and the caller is told.
    guard environment.attachment.withLock({ $0.object == nil }) else { return }
    try Store(at: path, options: options).close()
  }

  /// Whether the records lie on the newest commit, or are in it.
  private static func keeps(
    _ view: borrowing SharedTable.View, _ origin: [UInt64], of environment: Environment
  ) -> Bool {
    guard origin.indices.allSatisfy({ view.wide(BufferLayout.Place.origin + $0) == origin[$0] }),
      view.wide(BufferLayout.Place.isClosed) == 0
    else { return false }
    let state = BufferState(word: view.acquire(BufferLayout.Place.state))
    let base = view.acquire(BufferLayout.Place.base + state.base)
    let newest = environment.lastTransaction
    return base == newest || state.isFrozen && base &+ 1 == newest
  }
}

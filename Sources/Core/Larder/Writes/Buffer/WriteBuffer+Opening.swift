import LMDB
import LarderSystem
import Synchronization

extension WriteBuffer {
  /// Makes the file, or keeps a file that killed processes have left. Must be called only if no other process has the store
  /// open. Drops records that do not belong to the data, such as records of an earlier boot.
  static func prepare(of environment: Environment, _ options: Store.Options) {
    let bytes = wanted(by: options, in: environment)
    let keepsSize = options.keepsWriteBuffer && forced == nil
    let mayMake = bytes > 0 && !keepsSize
    // An error is ignored here, because opening the store later gets and reports the same error.
    guard mayMake || FileStatus.of(path(in: environment)) != nil,
      let format = try? StoreFormat(of: environment), let origin = origin(of: environment, options)
    else { return }
    let table = table(of: environment, format.identity)
    var count = keepsSize ? nil : BufferLayout(bytes: bytes).count
    do throws(SystemError) {
      if table.openExisting() {
        let state = BufferState(in: table.view)
        if keepsSize { count = table.view.count }
        let isOpen = table.view.wide(BufferLayout.Place.isClosed) == 0
        let fits = bytes > 0 && table.view.count == count && isOpen && !state.isOld
        if fits || state.hasRecords, !isForeign(state, to: origin, table.view, environment) {
          return
        }
      } else if FileStatus.of(path(in: environment)) != nil, try !table.isForeign(),
        (try? checkEmpty(in: environment.path)) == nil
      {
        // The file has records and is kept. The opening then reports that the file cannot be mapped.
        return
      }
      try FileStatus.remove(path(in: environment))
    } catch { return }
    guard bytes > 0, let count else { return }
    let newest = environment.lastTransaction
    table.open(making: count) { view in
      save(origin, view)
      view.store(1, wide: BufferLayout.Place.watched)
      view.store(1, wide: BufferLayout.Place.dependents)
      view.store(BufferState.first.word, wide: BufferLayout.Place.state)
      view.store(newest, wide: BufferLayout.Place.base)
      view.store(newest, wide: BufferLayout.Place.base + 1)
    }
  }

  /// The bytes of the buffer that a store with these options wants. In trials an environment variable sets this number. A
  /// durable store wants no buffer, but a killed change of the durability may have left a file.
  static func wanted(by options: Store.Options, in environment: Environment) -> Int {
    environment.durability == .durable ? 0 : forced ?? options.writeBuffer
  }

  private static let forced = environmentVariable("LARDER_WRITE_BUFFER").flatMap { Int($0) }

  /// Commits the records that killed processes have left. Called before the data file is replaced or changed.
  static func commit(at path: String, _ options: Store.Options) throws(LarderError) {
    guard FileStatus.of(path + "/" + MappedFile.buffer.rawValue) != nil else { return }
    var options = options
    options.create = false
    options.changesDurability = false
    options.durability = nil
    let environment = try Environment.open(at: path, options)
    // If this process has the store open, this function commits nothing, and a later step of the caller throws.
    guard environment.attachment.withLock({ $0.object == nil }) else { return }
    try Store(at: path, options: options).close()
  }

  /// Throws if a process has left records in the file of the store in `directory`. Must be called only if no process has the
  /// store open. After ``commit(at:_:)``, only a process that was killed since then can have left records.
  @Sendable static func checkEmpty(in directory: String) throws(LMDBError) {
    let word = try SharedTable.word(BufferLayout.Place.state, of: .buffer, in: directory)
    if let word, BufferState(word: word).hasRecords { throw .occupied }
  }

  static func origin(of environment: Environment, _ options: Store.Options) -> [UInt64]? {
    guard let boot = try? options.hooks.boot ?? BootIdentity.current(),
      let data = FileStatus.of(environment.path + "/data.mdb")
    else { return nil }
    let file = FileIdentity(data)
    return [boot.high, boot.low, file.device, file.inode]
  }

  static func save(_ origin: [UInt64], _ view: borrowing SharedTable.View) {
    for (index, word) in origin.enumerated() {
      view.store(word, wide: BufferLayout.Place.origin + index)
    }
  }

  /// Whether the records belong to other data than the data file now has. Such records remain if the data was changed and after
  /// that only read-only processes have opened the store.
  static func isForeign(
    _ state: BufferState, to origin: [UInt64], _ view: borrowing SharedTable.View,
    _ environment: Environment
  ) -> Bool {
    let base = view.acquire(BufferLayout.Place.base + state.base)
    let newest = environment.lastTransaction
    // The base is the number of a commit, and these numbers only increase. So a base above the last commit is of other data.
    if base > newest { return true }
    // Every commit first turns or freezes the buffer. Then the base may be one lower: the last commit may be of these records,
    // and its process was killed. Any other lower base is of other data, except if a process has just ended a commit.
    let mayFollow = (state.isFrozen || state.hasOlder) && base &+ 1 == newest
    if base < newest, !mayFollow, BufferState(in: view).epoch == state.epoch { return true }
    // The device (word 2) is not compared, because the same disk may get another number when it is mounted again.
    return [0, 1, 3].contains { view.wide(BufferLayout.Place.origin + $0) != origin[$0] }
  }
}

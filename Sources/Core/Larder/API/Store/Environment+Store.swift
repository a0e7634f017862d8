import LMDB
import LarderSystem

extension Environment {
  /// Opens or makes the environment of the store at `path`, without a check of its format.
  static func open(at path: String, _ options: Store.Options) throws(LarderError) -> Environment {
    var environmentOptions = EnvironmentOptions()
    environmentOptions.create = options.create && !options.isReadOnly
    environmentOptions.databases = Indexes.names
    environmentOptions.lockTimeout = options.lockTimeout.bounded
    environmentOptions.foreignOwner = options.allowsForeignOwner
    environmentOptions.readOnly = options.isReadOnly
    environmentOptions.durability = options.flushes ? options.durability?.level : .temporary
    environmentOptions.durabilityChange = options.changesDurability ? WriteBuffer.checkEmpty : nil
    environmentOptions.checkpointInterval = options.checkpointInterval.bounded
    environmentOptions.boot = options.hooks.boot
    environmentOptions.signature = MetadataKey.format
    environmentOptions.opening = { environment, isAlone in
      if isAlone, !options.isReadOnly { WriteBuffer.prepare(of: environment, options) }
    }
    do throws(OpenError) {
      return try open(at: path, options: environmentOptions) {
        (transaction: inout WriteTransaction) throws(LMDBError) in
        let format = StoreFormat.new()
        try transaction.put(format.encoded, for: MetadataKey.format, in: .main)
        let seal = RecordSeal(identity: format.identity)
        try transaction.put(StoreState().record(seal: seal), for: MetadataKey.state, in: .main)
        let free = options.flushes ? options.hooks.freeDisk(path) : nil
        let disk = free.map { StoreLimits.defaultDisk(free: $0) }
        let settings = StoreSettings.record(defaultDisk: disk, seal: seal)
        try transaction.put(settings, for: MetadataKey.settings, in: .main)
      }
    } catch {
      if error.kind == .lacksDatabase { try refuseOtherFormat(at: path, environmentOptions) }
      throw LarderError(error)
    }
  }

  /// Throws if the store has another format. Opens only the main database, which stores of every format have.
  private static func refuseOtherFormat(
    at path: String, _ options: EnvironmentOptions
  ) throws(LarderError) {
    var options = options
    options.create = false
    options.readOnly = true
    options.durability = nil
    options.databases = []
    let environment: Environment
    do throws(OpenError) { environment = try open(at: path, options: options) { _ in } } catch {
      throw LarderError(error)
    }
    _ = try StoreFormat(of: environment)
  }
}

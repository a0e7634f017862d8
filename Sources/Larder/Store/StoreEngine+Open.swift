import LMDB
import Synchronization

extension StoreEngine {
  /// The engine this process already has for that place, or a new one.
  static func open(at path: String, options: Store.Options) throws(LarderError) -> StoreEngine {
    let environment = try environment(at: path, options: options)
    return try environment.attachment.withLock { attachment throws(LarderError) in
      if let engine = attachment.object as? StoreEngine {
        try engine.checkClock(options.clock)
        return engine
      }
      let format = try format(of: environment)
      let engine = StoreEngine(environment: environment, format: format, options: options)
      attachment.object = engine
      return engine
    }
  }

  static func environment(
    at path: String, options: Store.Options
  ) throws(LarderError) -> Environment {
    var environmentOptions = EnvironmentOptions()
    environmentOptions.create = options.create && !options.readOnly && !options.allowsForeignOwner
    environmentOptions.databases = Indexes.names
    environmentOptions.lockTimeout = options.lockTimeout
    environmentOptions.foreignOwner = options.allowsForeignOwner
    environmentOptions.readOnly = options.readOnly || options.allowsForeignOwner
    environmentOptions.durability = options.flushes ? options.durability?.level : .temporary
    environmentOptions.changesDurability = options.changesDurability
    environmentOptions.checkpointInterval = options.checkpointInterval
    environmentOptions.boot = options.boot
    environmentOptions.signature = MetadataKey.format
    do throws(OpenError) {
      return try Environment.open(at: path, options: environmentOptions) {
        (transaction: inout WriteTransaction) throws(LMDBError) in
        try transaction.put(StoreFormat.new().encoded, for: MetadataKey.format, in: .main)
        try transaction.put(StoreState().encoded, for: MetadataKey.state, in: .main)
      }
    } catch {
      throw LarderError(error)
    }
  }

  static func format(of environment: Environment) throws(LarderError) -> StoreFormat {
    let path = environment.path
    guard let format = try storedFormat(of: environment) else {
      throw LarderError(
        .foreign, "\(path) is not a Larder store",
        hint: "name a directory that holds one, or a new one")
    }
    guard format.version <= StoreFormat.current else {
      throw LarderError(
        .newerFormat,
        "\(path) has format \(format.version), this Larder knows up to \(StoreFormat.current)",
        hint: "use the newer Larder that wrote it, or another directory")
    }
    return format
  }

  private static func storedFormat(of environment: Environment) throws(LarderError) -> StoreFormat?
  {
    do throws(LMDBError) {
      let transaction = try environment.beginRead()
      guard let region = try transaction.find(MetadataKey.format, in: .main) else { return nil }
      return StoreFormat(transaction.bytes(of: region))
    } catch {
      throw LarderError(error, path: environment.path)
    }
  }

  /// Two clocks on one store would disagree about what is expired.
  private func checkClock(_ other: any LarderClock) throws(LarderError) {
    if usesSystemClock && other is SystemClock { return }
    if let mine = clock as? any AnyObject & LarderClock,
      let other = other as? any AnyObject & LarderClock,
      mine === other
    {
      return
    }
    throw LarderError(
      .invalidArgument, "\(environment.path) is already open in this process with another clock",
      hint: "open it once and share it, or pass the same clock")
  }
}

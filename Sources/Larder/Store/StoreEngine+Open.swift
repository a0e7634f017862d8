import LMDB
import LarderSystem
import Synchronization

extension StoreEngine {
  /// The engine that this process has for the store at `path`, or a new one.
  static func open(at path: String, options: Store.Options) throws(LarderError) -> StoreEngine {
    guard options.transforms.count <= TransformSteps.most else {
      throw LarderError(
        .invalidArgument, "a store cannot have \(options.transforms.count) transforms",
        hint: "use at most \(TransformSteps.most)")
    }
    let environment = try environment(at: path, options: options)
    return try environment.attachment.withLock { attachment throws(LarderError) in
      if let engine = attachment.object as? StoreEngine {
        try engine.checkClock(options.clock)
        try engine.checkTransforms(options.transforms)
        return engine
      }
      endsWithProcess
      let format = try format(of: environment)
      let engine = StoreEngine(environment: environment, format: format, options: options)
      attachment.object = engine
      if !options.readOnly, !options.allowsForeignOwner { engine.applyFileLimit() }
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
        let format = StoreFormat.new()
        try transaction.put(format.encoded, for: MetadataKey.format, in: .main)
        let seal = RecordSeal(identity: format.identity)
        let state = StoreState().record(seal: seal)
        try transaction.put(state, for: MetadataKey.state, in: .main)
        if options.flushes, let free = options.freeDisk(path) {
          let settings = StoreSettings.record(
            defaultDisk: StoreLimits.defaultDisk(free: free), seal: seal)
          try transaction.put(settings, for: MetadataKey.settings, in: .main)
        }
      }
    } catch {
      throw LarderError(error)
    }
  }

  static func format(of environment: Environment) throws(LarderError) -> StoreFormat {
    let path = environment.path
    guard case .format(let format) = try storedFormat(of: environment) else {
      if case .damaged = try storedFormat(of: environment) {
        throw LarderError(
          .damaged, "\(path): the record of the store's format is damaged",
          hint: "copy everything readable into a new store: larder STORE salvage NEW")
      }
      throw LarderError(
        .foreign, "\(path) is not a Larder store",
        hint: "name a directory that holds one, or a new one")
    }
    if format.version == StoreFormat.current { return format }
    guard format.version < StoreFormat.current else {
      throw LarderError(
        .newerFormat,
        "\(path) has format \(format.version), this version of Larder reads format \(StoreFormat.current)",
        hint: "use the newer Larder that wrote it, or another directory")
    }
    throw LarderError(
      .cannotOpen,
      "\(path) has format \(format.version), this version of Larder reads format \(StoreFormat.current)",
      hint:
        "remove the directory, which a cache can do without, or open it with the Larder that wrote it"
    )
  }

  private static func storedFormat(
    of environment: Environment
  ) throws(LarderError) -> StoreFormat.Contents {
    do throws(LMDBError) {
      let transaction = try environment.beginRead()
      guard let region = try transaction.find(MetadataKey.format, in: .main) else {
        return .foreign
      }
      return StoreFormat.read(transaction.bytes(of: region))
    } catch {
      throw LarderError(error, path: environment.path)
    }
  }

  /// Maps no more than the disk limit allows, before any read: a map with reads in it cannot be made smaller.
  private func applyFileLimit() {
    do throws(LarderError) {
      guard let limit = try settings(in: beginRead()).limits.disk else { return }
      environment.setFileLimit(limit)
    } catch {
      // A damaged record of the limits must not keep the store from being opened; the next write reports it.
    }
  }

  /// Refuses other transforms: a handle without them could not read what another has written.
  private func checkTransforms(_ others: [any ValueTransform]) throws(LarderError) {
    if transforms.map(\.id) == others.map(\.id) { return }
    throw LarderError(
      .invalidArgument,
      "\(environment.path) is already open in this process with other transforms",
      hint: "open it once and share it, or pass the same transforms")
  }

  /// Refuses a second clock: two clocks on one store would disagree about expiry.
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

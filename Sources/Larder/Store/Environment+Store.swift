import LMDB
import LarderSystem

extension Environment {
  /// Opens or makes the environment of the store at `path`, without a look at its format.
  static func open(at path: String, _ options: Store.Options) throws(LarderError) -> Environment {
    var environmentOptions = EnvironmentOptions()
    environmentOptions.create = options.create && !options.readOnly && !options.allowsForeignOwner
    environmentOptions.databases = Indexes.names
    environmentOptions.lockTimeout = options.lockTimeout.bounded
    environmentOptions.foreignOwner = options.allowsForeignOwner
    environmentOptions.readOnly = options.readOnly || options.allowsForeignOwner
    environmentOptions.durability = options.flushes ? options.durability?.level : .temporary
    environmentOptions.changesDurability = options.changesDurability
    environmentOptions.checkpointInterval = options.checkpointInterval.bounded
    environmentOptions.boot = options.boot
    environmentOptions.signature = MetadataKey.format
    do throws(OpenError) {
      return try open(at: path, options: environmentOptions) {
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
}

extension StoreFormat {
  /// The format of the store in an environment.
  ///
  /// - Throws: an error that says what the file is, if this version cannot read it.
  init(of environment: Environment) throws(LarderError) {
    let path = environment.path
    switch try Self.contents(of: environment) {
    case .foreign:
      throw LarderError(
        .foreign, "\(path) is not a Larder store",
        hint: "name a directory that holds one, or a new one")
    case .damaged:
      throw LarderError(
        .damaged, "\(path): the record of the store's format is damaged",
        hint: "copy everything readable into a new store: larder STORE salvage NEW")
    case .format(let format): self = format
    }
    if version == Self.current { return }
    guard version < Self.current else {
      throw LarderError(
        .newerFormat,
        "\(path) has format \(version), this version of Larder reads format \(Self.current)",
        hint: "use the newer Larder that wrote it, or another directory")
    }
    throw LarderError(
      .cannotOpen,
      "\(path) has format \(version), this version of Larder reads format \(Self.current)",
      hint:
        "remove the directory, which a cache can do without, or open it with the Larder that wrote it"
    )
  }

  private static func contents(
    of environment: Environment
  ) throws(LarderError) -> Contents {
    do throws(LMDBError) {
      let transaction = try environment.beginRead()
      guard let region = try transaction.find(MetadataKey.format, in: .main) else {
        return .foreign
      }
      return read(transaction.bytes(of: region))
    } catch {
      throw LarderError(error, path: environment.path)
    }
  }
}

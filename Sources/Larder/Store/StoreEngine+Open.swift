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
    let environment = try Environment.open(at: path, options)
    return try environment.attachment.withLock { attachment throws(LarderError) in
      if let engine = attachment.object as? StoreEngine {
        try engine.checkClock(options.clock)
        try engine.checkTransforms(options.transforms)
        return engine
      }
      endsWithProcess
      let format = try StoreFormat(of: environment)
      let engine = StoreEngine(environment: environment, format: format, options: options)
      attachment.object = engine
      if !options.readOnly, !options.allowsForeignOwner { engine.applyFileLimit() }
      return engine
    }
  }

  /// Maps no more than the disk limit allows, before any read: a map with reads in it cannot be made smaller.
  private func applyFileLimit() {
    do throws(LarderError) {
      guard let limit = try metadata.settings(in: beginRead()).limits.disk else { return }
      environment.setFileLimit(limit)
    } catch {
      // A damaged record of the limits must not keep the store from being opened; the next write reports it.
    }
  }

  /// Refuses other transforms: a handle without them could not read what another has written.
  private func checkTransforms(_ others: [any ValueTransform]) throws(LarderError) {
    if transforms.transforms.map(\.id) == others.map(\.id) { return }
    throw LarderError(
      .invalidArgument,
      "\(environment.path) is already open in this process with other transforms",
      hint: "open it once and share it, or pass the same transforms")
  }

  /// Refuses a second clock: two clocks on one store would disagree about expiry.
  private func checkClock(_ other: any LarderClock) throws(LarderError) {
    if clock.isSystem && other is SystemClock { return }
    if let mine = clock.source as? any AnyObject & LarderClock,
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

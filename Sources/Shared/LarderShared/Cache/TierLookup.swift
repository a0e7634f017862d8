import Larder
import LarderSystem

/// A value of the tier that passed all checks.
struct TierCopy<Value: Sendable>: Sendable {
  var stamp: ValueStamp
  var age: Duration
  var frame: Frame
  /// The newest position of the log at the time of the fetch.
  var head: Position
  /// The value; nil if the tier has only a note: the key has no value, or the value is too large for the tier.
  var value: Value?

  /// Whether the copy answers a request: it is a value, or the note that the key has no value.
  var isAnswer: Bool { value != nil || frame.isAbsent }

  /// The value for a load; nil if the tier has no value.
  func known(at now: Timestamp) -> CachedValue<Value>? {
    value.map {
      CachedValue(value: $0, written: now.advanced(by: .zero - age), validators: frame.validators)
    }
  }

  /// The lifetimes, tags and validators that the value had when the tier stored the value.
  var attributes: EntryAttributes {
    var attributes = EntryAttributes(expires: .after(frame.soft))
    attributes.stale = frame.stale
    attributes.tags = frame.tags
    attributes.entityTag = frame.validators.entityTag
    attributes.lastModified = frame.validators.lastModified
    return attributes
  }

  /// The remaining fresh lifetime; zero or less for a stale value.
  var remaining: Duration { frame.soft - age }
  var isFresh: Bool { remaining > .zero }

  /// Whether a fresh value expires within `ahead`. If `ahead` is not shorter than the lifetime, half of the lifetime counts.
  func isNearExpiry(_ ahead: Duration?) -> Bool {
    guard let ahead else { return false }
    return remaining <= (ahead < frame.soft ? ahead : frame.soft / 2)
  }

  /// Whether the value is fresh, or stale for less than its own window and `window`; if `window` is nil, only its own counts.
  func isWithin(_ window: Duration?) -> Bool {
    .zero - remaining < min(window ?? frame.stale, frame.stale) || isFresh
  }
}

struct TierLookup<Value: Sendable>: Sendable {
  /// The stamp of the tier's value, even of an invalidated or damaged value; nil if the tier has no value.
  var stamp: ValueStamp?
  /// The value; nil if the tier has no usable value.
  var copy: TierCopy<Value>?
  /// The newest position of the log, if the tier has a value in a newer layout, which this version must not overwrite.
  var headOfNewer: Position?
}

extension SharedCache {
  /// Asks the tier for a key. If the value has tags that the caller did not name, asks again with these tags.
  func find(_ key: SharedKey, tags: [String]) async throws(LarderError) -> TierLookup<Value> {
    var named = Set(tags.map(ExactString.init))
    // At each attempt the tier may have another value with other tags, so the number of attempts is limited.
    for _ in 0..<4 {
      guard let fetched = try await shared.tier.fetch(key, tags: named.map(\.string).sorted())
      else { return TierLookup() }
      if fetched.isInvalidated { return TierLookup(stamp: fetched.stamp) }
      switch Frame.parse(fetched.frame, for: key, of: shared.tier.application) {
      case .damaged:
        shared.count { $0.damaged += 1 }
        return TierLookup(stamp: fetched.stamp)
      case .newer:
        shared.count { $0.newer += 1 }
        return TierLookup(headOfNewer: fetched.head)
      case .frame(let frame):
        let tags = frame.tags.map(ExactString.init)
        if !named.isSuperset(of: tags) {
          named.formUnion(tags)
          continue
        }
        return lookup(fetched, frame)
      }
    }
    throw LarderError(
      .unreachable, "a value in namespace \(name) changed its tags with each look at it")
  }

  private func lookup(_ fetched: FetchedValue, _ frame: Frame) -> TierLookup<Value> {
    var copy = TierCopy<Value>(
      stamp: fetched.stamp, age: fetched.age, frame: frame, head: fetched.head)
    if let bytes = frame.value {
      copy.value = frame.codec == codec.id ? try? codec.decode(bytes.span) : nil
      if copy.value == nil {
        shared.count { $0.damaged += 1 }
        return TierLookup(stamp: fetched.stamp)
      }
    }
    return TierLookup(stamp: fetched.stamp, copy: copy)
  }
}

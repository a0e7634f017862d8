#if HTTP
  public import HTTPTypes
  public import Larder

  /// The head of a stored response, and its times.
  public struct StoredResponse: Sendable, Hashable {
    /// The status and the reusable fields.
    public var response: HTTPResponse { didSet { terms = StoredTerms() } }
    /// The time at which the request, or the last validation, was sent.
    public var requested: Timestamp { didSet { terms = StoredTerms() } }
    /// The time at which the response, or its last validation, arrived.
    public var received: Timestamp { didSet { terms = StoredTerms() } }
    /// The number of bytes of the body.
    public var bodySize: Int
    /// Identifies the stored body: a validation keeps the id, and another body has another id; nil before the body is stored.
    var bodyID: UInt64?
    /// The length of the parts in which the body is stored; nil if the body is the value of the response's entry.
    var partSize: Int?
    /// The freshness in seconds that a rule of the application assigns; nil for the freshness that the response states.
    var assignedFreshness: Int? { didSet { terms = StoredTerms() } }
    /// The request fields that select this response among the responses of its URI.
    var vary: VaryKey
    /// The digest of the request's user; nil without a user, and in a shared cache.
    var credential: String?
    /// The terms of reuse that the fields state, read once for many answers; empty before a ``ResponseStore`` has read the fields.
    var terms = StoredTerms()

    /// The entries of the body; nil if the body is the value of the response's entry.
    var parts: BodyParts? {
      guard let bodyID, let partSize else { return nil }
      return BodyParts(id: bodyID, size: partSize)
    }

    var fields: HTTPFields { response.headerFields }
    var entityTag: EntityTag? { EntityTag(fields) }
    var lastModified: String? { fields.lines(of: .lastModified).first }
    var hasValidators: Bool { entityTag != nil || lastModified != nil }

    var age: ResponseAge {
      terms.known?.age ?? ResponseAge(fields, requested: requested, received: received)
    }

    /// The range of the body in the whole representation; nil for a complete response, and without a valid `Content-Range`.
    var part: ContentRange? { response.status.code == 206 ? ContentRange(fields) : nil }

    func directives(for kind: HTTPCachePolicy.Kind) -> ResponseDirectives {
      if let terms = terms.known, terms.kind == kind { return terms.directives }
      return ResponseDirectives(fields, for: kind)
    }

    /// The date of the response. If several responses fit a request, the newest is selected.
    var date: HTTPDate { HTTPDate(of: .date, in: fields, now: received) ?? HTTPDate(received) }

    func isOlder(than other: StoredResponse) -> Bool {
      (date, received) < (other.date, other.received)
    }

    func lifetime(policy: HTTPCachePolicy) -> FreshnessLifetime {
      if let terms = terms.known, terms.kind == policy.kind,
        terms.longestHeuristic == policy.longestHeuristic
      {
        return terms.lifetime
      }
      return assignedFreshness.map { FreshnessLifetime($0, .explicit) }
        ?? FreshnessLifetime(response, received: received, policy: policy)
    }

    /// The time until which the response may be validated or served, even if it is stale.
    ///
    /// A time that is not after ``received`` means that the response is not stored.
    public func keptUntil(policy: HTTPCachePolicy) -> Timestamp {
      let lifetime = lifetime(policy: policy)
      let stale = received.advanced(by: .seconds(lifetime.seconds - age.initial))
      var end = stale
      let directives = directives(for: policy.kind)
      if !directives.forbidsStale, lifetime.source != .none || hasValidators {
        let windows = max(directives.staleWhileRevalidate, directives.staleIfError ?? 0)
        end = max(
          stale.advanced(by: .seconds(windows)), stale.advanced(by: policy.whenDisconnected))
      }
      return hasValidators ? max(end, received.advanced(by: policy.retention)) : end
    }
  }

  /// The terms of reuse that the fields of a stored response state. The response and a policy decide the terms, so equal
  /// responses have equal terms under one policy.
  struct StoredTerms: Sendable, Hashable {
    final class Known: Sendable {
      // The parts of the policy on which the terms depend. If another policy is in use, the fields are read again.
      let kind: HTTPCachePolicy.Kind
      let longestHeuristic: Duration
      let age: ResponseAge
      let lifetime: FreshnessLifetime
      let directives: ResponseDirectives

      init(of stored: StoredResponse, for policy: HTTPCachePolicy) {
        kind = policy.kind
        longestHeuristic = policy.longestHeuristic
        age = stored.age
        lifetime = stored.lifetime(policy: policy)
        directives = stored.directives(for: policy.kind)
      }
    }

    var known: Known?

    static func == (left: StoredTerms, right: StoredTerms) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// Converts a stored response to the metadata of its entry and back, in the form that ``ResponseMetadata`` describes.
  extension StoredResponse {
    func encodedMetadata() -> [UInt8] {
      let version = partSize == nil ? ResponseMetadata.version : ResponseMetadata.versionWithParts
      var head = "\(version)\(response.status.code) \(response.status.reasonPhrase)\n"
      head += "requested \(requested.milliseconds)\nreceived \(received.milliseconds)\n"
      if let bodyID { head += "body \(String(bodyID, radix: 16))\n" }
      if let partSize { head += "length \(bodySize)\nparts \(partSize)\n" }
      if let assignedFreshness { head += "freshness \(assignedFreshness)\n" }
      if let credential { head += "credential \(credential)\n" }
      for (name, value) in vary.fields {
        head += "vary " + name + (value.map { "=" + $0 } ?? "") + "\n"
      }
      var bytes = Array((head + "\n").utf8)
      for field in fields {
        bytes += Array(field.name.rawName.utf8)
        bytes += [0x3A, 0x20]
        bytes += field.valueBytes
        bytes.append(0x0A)
      }
      return bytes
    }

    /// Reads the response of an entry; nil for another entry.
    init?(_ entry: Store.Entry) {
      guard let metadata = entry.metadata else { return nil }
      self.init(metadata: metadata, bodySize: entry.size)
    }

    /// Reads the metadata of an entry with a value of `bodySize` bytes; nil if it is not that of a response in a known version.
    init?(metadata: [UInt8], bodySize: Int) {
      // `HTTPFields` traps if it gets too many fields, so a damaged or foreign record with more fields is refused.
      guard let metadata = ResponseMetadata(metadata),
        metadata.fields.count <= 4 * HTTPCacheError.largestFieldCount,
        let requested = metadata.note("requested").flatMap({ Int64($0) }),
        let received = metadata.note("received").flatMap({ Int64($0) })
      else { return nil }
      let phrase = String(decoding: metadata.status.dropFirst(4), as: UTF8.self)
      response = HTTPResponse(status: .init(code: metadata.code, reasonPhrase: phrase))
      self.bodySize = bodySize
      self.requested = Timestamp(milliseconds: requested)
      self.received = Timestamp(milliseconds: received)
      bodyID = metadata.note("body").flatMap { UInt64($0, radix: 16) }
      assignedFreshness = metadata.note("freshness").flatMap { Int($0) }
        .map { min(max(0, $0), DeltaSeconds.most) }
      credential = metadata.note("credential")
      vary = VaryKey(
        fields: metadata.notes.filter { $0.name == "vary" }.map { note in
          let pair = note.value.split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
          return (String(pair[0]), pair.count == 2 ? String(pair[1]) : nil)
        })
      if metadata.isInParts {
        guard bodyID != nil, let length = metadata.note("length").flatMap({ Int64($0) }),
          (0...BodyParts.largestBody) ~= length,
          let size = metadata.note("parts").flatMap({ Int64($0) }),
          (1...Int64(Rules.largestPossibleValue)) ~= size
        else { return nil }
        self.bodySize = Int(length)
        partSize = Int(size)
      }
      for (name, value) in metadata.fields {
        guard let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) else { return nil }
        response.headerFields.append(HTTPField(name: name, lenientValue: value))
      }
    }
  }
#endif

import Larder

/// The settings for the use of a shared tier. A value out of range becomes the nearest valid value.
public struct SharedOptions: Sendable {
  /// How long a read waits for the tier. After this time the caller continues without the tier. At most an hour. While copies
  /// are confirmed, a value that is loaded without the tier is not kept, so allow for several round trips to the server.
  public var readTimeout: Duration
  /// How long a change, or a request for a lease, waits for the tier. At most an hour.
  public var writeTimeout: Duration
  /// The duration of a lease, the right to load a key; 100 ms to an hour. The holder renews the lease after each third of this time.
  public var leaseDuration: Duration
  /// The largest encoded value that the tier takes, in bytes, at most 32 MiB. Each machine loads and keeps larger values itself.
  public var maxValueSize: Int
  /// The approximate number of records that the log keeps.
  public var logLength: Int
  /// The number of loads that this process runs at the same time while the tier cannot be used. Loads inside loads do not count.
  public var maxLoads: Int
  /// How long reads use copies while this machine cannot read the log. The time begins two seconds after the last contact. In
  /// this time results are not confirmed. After this time reads ask the tier or the origin first.
  public var unconfirmedLimit: Duration
  /// The pause of the log's reader after several changes within this time, for fewer replies with more changes. At most a second.
  public var pace: Duration

  /// Makes options. Every option has a default.
  public init(
    readTimeout: Duration = .milliseconds(50), writeTimeout: Duration = .milliseconds(500),
    leaseDuration: Duration = .seconds(3), maxValueSize: Int = 1 << 20, logLength: Int = 65_536,
    maxLoads: Int = 64, unconfirmedLimit: Duration = .seconds(60),
    pace: Duration = .milliseconds(75)
  ) {
    self.readTimeout = readTimeout
    self.writeTimeout = writeTimeout
    self.leaseDuration = leaseDuration
    self.maxValueSize = maxValueSize
    self.logLength = logLength
    self.maxLoads = maxLoads
    self.unconfirmedLimit = unconfirmedLimit
    self.pace = pace
  }

  /// The largest possible value. A sender closes the connection if a reply has a string of more than 64 MiB.
  private static let largestValue = 32 << 20

  /// The options within usable limits: a lease of zero would be renewed without a pause, and an empty log has no newest record.
  var possible: SharedOptions {
    var options = self
    options.readTimeout = min(max(readTimeout, .zero), .hours(1))
    options.writeTimeout = min(max(writeTimeout, .zero), .hours(1))
    options.unconfirmedLimit = max(unconfirmedLimit, .zero)
    options.leaseDuration = min(max(leaseDuration, .milliseconds(100)), .hours(1))
    options.maxValueSize = min(max(maxValueSize, 0), Self.largestValue)
    options.logLength = max(logLength, 1)
    options.maxLoads = max(maxLoads, 1)
    options.pace = min(max(pace, .zero), .seconds(1))
    return options
  }
}

extension LoadOptions {
  /// The options for the store. The next call must not find an older copy, and the lease of the tier decides which machine loads.
  var forStore: LoadOptions {
    var options = self
    options.waitsForCommit = true
    options.takesLease = false
    if let report = onBackgroundError {
      options.onBackgroundError = { if !($0 is Overtaken) { report($0) } }
    }
    return options
  }
}

import Larder

/// The user's settings for reading without a network.
public struct OfflineSettings: Codable, Sendable, Hashable {
  /// Whether anything is stored.
  public var isOn: Bool
  /// The most articles that are stored, one of ``articleChoices``; other numbers are rounded.
  public var articles: Int { didSet { articles = Self.nearest(articles) } }
  /// Whether their images are stored too; off by default.
  public var keepsImages: Bool
  /// The most megabytes of images, within ``imageRange``.
  public var imageMegabytes: Int {
    didSet { imageMegabytes = imageMegabytes.clamped(to: Self.imageRange) }
  }

  public static let articleChoices = Array(stride(from: 0, through: 100, by: 10))
  public static let imageRange = 50...1_200

  public init(
    isOn: Bool = true, articles: Int = 20, keepsImages: Bool = false, imageMegabytes: Int = 200
  ) {
    self.isOn = isOn
    self.articles = Self.nearest(articles)
    self.keepsImages = keepsImages
    self.imageMegabytes = imageMegabytes.clamped(to: Self.imageRange)
  }

  var limit: Int { isOn ? articles : 0 }
  var imageBytes: Int { isOn && keepsImages ? .megabytes(imageMegabytes) : 0 }
  private static func nearest(_ count: Int) -> Int { (count.clamped(to: 0...100) + 5) / 10 * 10 }

  private enum CodingKeys: String, CodingKey { case isOn, articles, keepsImages, imageMegabytes }

  /// A missing field, as in settings of an earlier version, has its default.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let usual = OfflineSettings()
    self.init(
      isOn: try fields.decodeIfPresent(Bool.self, forKey: .isOn) ?? usual.isOn,
      articles: try fields.decodeIfPresent(Int.self, forKey: .articles) ?? usual.articles,
      keepsImages: try fields.decodeIfPresent(Bool.self, forKey: .keepsImages) ?? usual.keepsImages,
      imageMegabytes: try fields.decodeIfPresent(Int.self, forKey: .imageMegabytes)
        ?? usual.imageMegabytes)
  }
}

extension Int {
  fileprivate func clamped(to range: ClosedRange<Int>) -> Int {
    Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
  }
}
